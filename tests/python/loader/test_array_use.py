"""Where a function's images of OpenCV go, by its source."""

from __future__ import annotations

import linecache
import sys
from types import FunctionType
from typing import Any

import pytest
from unstarve.lowering.array_use import use_of, value_in
from unstarve.lowering.inside import Unclear

TRANSFORM = (("self", "transform"),)
READ = "image = cv2.cvtColor(cv2.imread(self.paths[index]), cv2.COLOR_BGR2RGB)\n"
ALBUMENT = 'image = self.transform(image=image)["image"]\n'


def made(body: str, head: str = "def __getitem__(self, index):") -> FunctionType:
    """A function of a module that has this source."""
    indented = "".join(f"    {line}\n" for line in body.splitlines())
    source = f"{head}\n{indented}"
    name = f"<written {abs(hash(source))}>"
    linecache.cache[name] = (len(source), None, source.splitlines(keepends=True), name)
    scope: dict[str, Any] = {}
    exec(compile(source, name, "exec"), scope)
    return next(value for value in scope.values() if isinstance(value, FunctionType))


def compositions_of(code: Any) -> Any:
    use = use_of(code)
    return None if use is None else use.compositions


PICTURE = 'image = np.array(Image.open(self.paths[index]).convert("RGB"))\n'
TAKEN = {
    "in one line": READ + ALBUMENT + "return image, 3",
    "line by line": (
        "path = self.root / self.names[index]\n"
        "image = cv2.imread(str(path), cv2.IMREAD_COLOR)\n"
        "if image is None:\n    raise FileNotFoundError(path)\n"
        "image = cv2.cvtColor(image, cv2.COLOR_BGR2RGB)\n" + ALBUMENT + "return image"
    ),
    "where there is a transform": (
        READ + "if self.transform:\n    " + ALBUMENT + "return image, self.labels[index]"
    ),
    "where there is one, asked for": (
        READ + "if self.transform is not None:\n    " + ALBUMENT + "else:\n    image = 0\n"
        "return image"
    ),
    "with a mask": (
        READ + "mask = cv2.imread(self.masks[index], cv2.IMREAD_GRAYSCALE)\n"
        "both = self.transform(image=image, mask=mask)\n"
        'return both["image"], both["mask"].long()'
    ),
    "with a mask by number": (
        READ + "mask = cv2.imread(self.masks[index], 0)\n"
        "both = self.transform(image=image, mask=mask)\nreturn both"
    ),
    "with its size": (
        READ + "height, width = image.shape[:2]\nboxes = self.boxes[index] / width\n"
        "return self.transform(image=image, bboxes=boxes, labels=[1])"
    ),
    "without another order": "image = cv2.imread(self.paths[index])\n" + ALBUMENT + "return image",
    "turned by hand": (
        "image = cv2.imread(self.paths[index])[:, :, ::-1]\nimage = image[..., ::-1]\n"
        + ALBUMENT
        + "return image"
    ),
    "by Pillow": PICTURE + ALBUMENT + "return image, np.array(self.labels[index])",
    "by Pillow, line by line": (
        'picture = Image.open(self.paths[index]).convert("RGB")\nwidth = picture.width\n'
        "label = np.asarray(self.labels[index])\nimage = np.asarray(picture)\n"
        + ALBUMENT
        + "return image, label, picture.size"
    ),
    "in a file that is open": (
        "with open(self.paths[index]) as file:\n    pass\n" + READ + ALBUMENT + "return image"
    ),
}


@pytest.mark.parametrize("body", TAKEN.values(), ids=TAKEN.keys())
def test_only_compositions_get_the_image(body: str) -> None:
    assert compositions_of(made(body).__code__) == TRANSFORM


def test_each_composition_is_named_once() -> None:
    body = (
        READ + "if self.train:\n    out = self.train_aug(image=image)\n"
        "else:\n    out = shared(image=image)\nreturn out, shared(image=image)"
    )
    found = compositions_of(made(body).__code__)
    assert found == (("self", "train_aug"), ("shared",))


ESCAPES = {
    "returned": READ + "return image",
    "returned without a transform": (
        READ + "if self.transform and index:\n    " + ALBUMENT + "return image"
    ),
    "returned behind another's": (
        READ + "if self.other:\n    image = self.transform(image=image)\nreturn image"
    ),
    "kept": READ + "self.last = image\n" + ALBUMENT + "return image",
    "in a list": READ + "views = [image]\n" + ALBUMENT + "return views",
    "computed with": READ + "image = image / 255\n" + ALBUMENT + "return image",
    "cut by hand": READ + "image = image[:9, :9]\n" + ALBUMENT + "return image",
    "every second": READ + "image = image[:, ::-1]\n" + ALBUMENT + "return image",
    "changed": READ + "image[0] = 0\n" + ALBUMENT + "return image",
    "changed in place": READ + "image += 1\n" + ALBUMENT + "return image",
    "resized": READ + "image = cv2.resize(image, (9, 9))\n" + ALBUMENT + "return image",
    "in grey": (
        "image = cv2.cvtColor(cv2.imread(self.paths[0]), cv2.COLOR_BGR2GRAY)\n"
        + ALBUMENT
        + "return image"
    ),
    "as a mask too": READ + "return self.transform(image=image, mask=image)",
    "by position": READ + "return self.transform(image)",
    "of a function within": READ + "get = lambda: image\n" + ALBUMENT + "return get()",
    "of all variables": READ + ALBUMENT + "return image, locals()",
    "of a loop": "for _ in range(2):\n    " + READ + ALBUMENT + "return image",
    "tried": "try:\n    " + READ + "except OSError:\n    pass\n" + ALBUMENT + "return image",
    "a list of them": (
        "images = [cv2.imread(path) for path in self.paths]\n" + READ + ALBUMENT + "return images"
    ),
    "by another name": "read = cv2.imread\n" + READ + ALBUMENT + "return read(self.paths[1])",
    "flags that nobody knows": (
        READ + "mask = cv2.imread(self.masks[0], self.flags)\n" + ALBUMENT + "return mask"
    ),
    "flags by keyword": (
        READ + "mask = cv2.imread(self.masks[0], flags=1)\n" + ALBUMENT + "return mask"
    ),
    "another composition by then": (READ + "self.transform = str\n" + ALBUMENT + "return image"),
    "a composition of the function's own": (
        "transform = self.transform\n" + READ + "return transform(image=image)"
    ),
    "no image at all": "return self.transform(image=index)",
    "of Pillow, as floats": PICTURE.replace('"RGB")', '"RGB"), float') + ALBUMENT + "return image",
    "of Pillow, returned": PICTURE + "return image",
    "of Pillow, two on a line": (
        "image, other = np.array(self.picture), 1\n"
        + PICTURE.strip()
        + "; label = np.array(self.label)\n"
        + ALBUMENT
        + "return label"
    ),
    "a generator": READ + "yield self.transform(image=image)",
}


@pytest.mark.parametrize("body", ESCAPES.values(), ids=ESCAPES.keys())
def test_an_image_that_goes_elsewhere_is_told(body: str) -> None:
    assert use_of(made(body).__code__) is None


def test_only_lines_that_make_such_an_image_count() -> None:
    body = "label = np.array(self.label)\n" + PICTURE + "\n" + ALBUMENT + "return image, label"
    use = use_of(made(body).__code__)
    assert use is not None and use.lines == ((3, 3),)


def test_a_source_that_is_no_more_what_runs_counts_for_nothing() -> None:
    function = made(READ + ALBUMENT + "return image, 1")
    name = function.__code__.co_filename
    size, time, lines, _ = linecache.cache[name]  # type: ignore[misc]
    linecache.cache[name] = (size, time, [*lines[:-1], "    return image, 2\n"], name)
    assert use_of(function.__code__) is None


class Owner:
    def __init__(self) -> None:
        self.transform = [1]

    @property
    def asked(self) -> Any:
        raise AssertionError("nobody asks a property")

    def frame(self) -> Any:
        return sys._getframe()


def test_names_are_looked_up_where_the_function_is() -> None:
    owner = Owner()
    frame = owner.frame()
    assert value_in(frame, ("self", "transform")) is owner.transform
    assert value_in(frame, ("sys", "modules")) is sys.modules
    for names in (("self", "asked"), ("self", "gone"), ("nowhere",)):
        with pytest.raises(Unclear):
            value_in(frame, names)
