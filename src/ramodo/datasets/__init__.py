"""Generated data whose outliers are known."""

from .access_log import AccessLog, make_access_log
from .documents import Documents, make_documents
from .generated import make_ultrahigh

__all__ = ["AccessLog", "Documents", "make_access_log", "make_documents", "make_ultrahigh"]
