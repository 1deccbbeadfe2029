"""Reads a data set and its transforms, and says what of them the native engine can do."""
