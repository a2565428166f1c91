"""The input: rows behind one interface, checks of what users pass in, normalisation and labels."""
