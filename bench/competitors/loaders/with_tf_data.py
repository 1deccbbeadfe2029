"""tf.data with its fused decode-and-crop, in a pool of threads of its own."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from loaders.task import BATCH, RATIO, SCALE, SHORT_SIDE, SIZE


class TfData:
    def __init__(self, root: Path, threads: int, _scratch: Path) -> None:
        os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
        import tensorflow as tf

        tf.config.threading.set_inter_op_parallelism_threads(threads)
        tf.config.threading.set_intra_op_parallelism_threads(1)
        self._tf = tf
        files = [str(path) for path in sorted(root.glob("*/*"))]
        options = tf.data.Options()
        options.threading.private_threadpool_size = threads
        options.threading.max_intra_op_parallelism = 1
        paths = tf.data.Dataset.from_tensor_slices(files)
        self._train = (
            paths.shuffle(len(files))
            .map(self._train_image, num_parallel_calls=threads)
            .batch(BATCH)
            .prefetch(2)
            .with_options(options)
        )
        self._evaluate = paths.map(self._evaluation_image).with_options(options)

    def _train_image(self, path: Any) -> Any:
        tf = self._tf
        encoded = tf.io.read_file(path)
        begin, size, _ = tf.image.sample_distorted_bounding_box(
            tf.image.extract_jpeg_shape(encoded),
            tf.zeros([1, 0, 4]),
            min_object_covered=0.0,
            aspect_ratio_range=RATIO,
            area_range=SCALE,
            max_attempts=10,
            use_image_if_no_bounding_boxes=True,
        )
        y, x, _ = tf.unstack(begin)
        height, width, _ = tf.unstack(size)
        image = tf.image.decode_and_crop_jpeg(
            encoded, tf.stack([y, x, height, width]), channels=3, dct_method="INTEGER_ACCURATE"
        )
        image = tf.image.resize(image, [SIZE, SIZE], antialias=True)
        image = tf.image.random_flip_left_right(image)
        return tf.cast(tf.round(image), tf.uint8)

    def _evaluation_image(self, path: Any) -> Any:
        tf = self._tf
        image = tf.image.decode_jpeg(
            tf.io.read_file(path), channels=3, dct_method="INTEGER_ACCURATE"
        )
        shape = tf.shape(image)
        side = tf.minimum(shape[0], shape[1])
        shape = tf.stack([shape[0] * SHORT_SIDE // side, shape[1] * SHORT_SIDE // side])
        image = tf.image.resize(image, shape, antialias=True)
        top = (shape[0] - SIZE) // 2
        left = (shape[1] - SIZE) // 2
        image = image[top : top + SIZE, left : left + SIZE]
        return tf.cast(tf.round(image), tf.uint8)

    def epoch(self) -> Iterator[int]:
        for images in self._train:
            yield int(images.shape[0])

    def evaluation(self) -> np.ndarray:
        images = np.stack([image.numpy() for image in self._evaluate])
        transposed: np.ndarray = images.transpose(0, 3, 1, 2)
        return transposed
