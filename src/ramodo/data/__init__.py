"""What comes in: rows behind one interface, checks of what users give, normalisation, labels."""
