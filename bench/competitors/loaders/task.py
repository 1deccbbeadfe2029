"""The work that every loader here does."""

BATCH = 64  # images
SIZE = 224  # output width and height, pixels
SHORT_SIDE = 256  # evaluation: the shorter side before the centre is cut out
SCALE = (0.08, 1.0)  # training: the crop's share of the area
RATIO = (3 / 4, 4 / 3)  # training: the crop's width / height
