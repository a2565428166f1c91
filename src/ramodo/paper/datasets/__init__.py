"""The paper's eight sets, and prepared files of these and others."""

from .loading import load_dataset
from .prepared import LabeledData, data_folder, load_prepared
from .sources import SOURCES, RawFile, Source, list_datasets

__all__ = [
    "LabeledData",
    "RawFile",
    "SOURCES",
    "Source",
    "data_folder",
    "list_datasets",
    "load_dataset",
    "load_prepared",
]
