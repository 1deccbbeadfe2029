"""Arrays of images that wait until albumentations wants their pixels."""
