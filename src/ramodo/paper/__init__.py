"""The paper beside the product: its experiments, its baselines and its data sets. Nothing else imports this package.

    experiments/            section 6 of the paper, run again: a module for each table and figure
    baselines/              the representations it compares REPEN with: AE, HLLE, SRP and CoP
    datasets/               its eight sets: from their publishers, a cache or prepared files
    experiments_command.py  `ramodo experiments`
    datasets_command.py     `ramodo datasets`

The extra `paper` of pyproject.toml lists what the experiments need.
"""
