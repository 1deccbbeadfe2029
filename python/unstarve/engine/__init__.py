"""The compiled engine in the place of torch's workers: for all of a sample, or its first part."""
