"""Speed, memory and accuracy, as ratios against a peer or a physical bound measured in the same run.

Each module is one command, `python -m benchmarks.NAME`, and prints one table in Markdown.
"""
