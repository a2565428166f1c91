"""Data with a known answer, and the sets that the benchmarks and published numbers use."""

from .generated import make_ultrahigh
from .prepared import LabeledData, data_folder, load_prepared

__all__ = ["LabeledData", "data_folder", "load_prepared", "make_ultrahigh"]
