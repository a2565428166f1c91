"""Why a row has its score: contributions of features that sum to it, and the names of features."""
