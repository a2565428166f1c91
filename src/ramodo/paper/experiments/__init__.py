"""Section 6 of the paper, to be run again: one module per table or figure, the paper's own numbers next to ours.

    sets.py      our data for each of the paper's sets
    paper.py     what the paper reports
    cells.py     one measurement: what is measured, on which set, by which method, with which seed
    measures.py  how a cell is computed; peers.py and deepod.py: other libraries' detectors
    store.py     finished cells, in an SQLite file; scheduling.py computes the others, in processes with limits
    runner.py    from the name of an experiment to its files
    table_*.py, dimensions.py, scalability.py, peers_table.py
                 an experiment: the cells it needs, and the page that they make
    page.py      Markdown, JSON and a figure; notes/ holds what is said about the differences

`ramodo experiments NAME` runs one, `ramodo experiments all` every one.
"""
