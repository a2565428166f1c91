"""Generated data with known outliers, the paper's eight sets, and prepared files of these and others."""

from .access_log import AccessLog, make_access_log
from .documents import Documents, make_documents
from .generated import make_ultrahigh
from .loading import load_dataset
from .prepared import LabeledData, data_folder, load_prepared
from .sources import SOURCES, RawFile, Source, list_datasets

__all__ = [
    "AccessLog",
    "Documents",
    "LabeledData",
    "RawFile",
    "SOURCES",
    "Source",
    "data_folder",
    "list_datasets",
    "load_dataset",
    "load_prepared",
    "make_access_log",
    "make_documents",
    "make_ultrahigh",
]
