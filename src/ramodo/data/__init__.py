"""Where data come in.

validation.py  whatever users pass in is checked once and comes out as rows
rows.py        the interface: map a function over blocks of rows, take some rows; all else is derived
blocks.py      rows in memory, sparse or dense, and rows of a folder on disk
mapped.py      arrays on disk that know when somebody writes into their files
labels.py      what the user knows about rows
"""
