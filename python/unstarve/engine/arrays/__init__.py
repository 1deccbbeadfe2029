"""Data sets that are tables with a column of images: Hugging Face's `datasets`."""
