"""A plan as the compiled engine takes it."""

from __future__ import annotations

from typing import Any, Literal

from unstarve import errors
from unstarve.lowering.plan import (
    Affine,
    Augment,
    Change,
    Choice,
    Colour,
    Elastic,
    Erasing,
    Mix,
    Noise,
    Padding,
    Perspective,
    Plan,
)


def plan_obstacle(plan: Plan) -> str | None:
    """Why the compiled engine cannot do it, or None."""
    try:
        native_plan(plan)
    except ImportError as missing:
        return f"the compiled module is not there ({missing})"
    except errors.UnstarveError as error:
        return str(error)
    return None


def native_plan(plan: Plan, layout: Literal["nchw", "nhwc"] = "nchw") -> Any:
    """The engine's TransformPlan for it."""
    from unstarve import _native

    native = _native.TransformPlan()
    geometry, given = native.geometry, plan.geometry
    geometry.kind = getattr(_native.GeometryPlan.Kind, given.kind)
    geometry.height, geometry.width = given.size
    if given.resize_short:
        geometry.resize_short = given.resize_short
    geometry.resize_to = given.resize_to
    geometry.padding, geometry.frame = _padding(given.padding), _padding(given.frame)
    geometry.pads_if_needed = given.pads_if_needed
    geometry.scale_min, geometry.scale_max = given.scale
    geometry.ratio_min, geometry.ratio_max = given.ratio
    geometry.either_interpolation = given.interpolation == "either"
    if given.interpolation != "either":
        geometry.interpolation = getattr(_native.Interpolation, given.interpolation)
    geometry.horizontal_flip_probability = plan.horizontal_flip
    geometry.vertical_flip_probability = plan.vertical_flip
    native.colour = [_colour_step(step) for step in plan.colour]
    output = native.output
    output.type = getattr(_native.OutputPlan.Type, plan.dtype)
    output.layout = getattr(_native.OutputPlan.Layout, layout)
    output.scale_to_unit = plan.scale_to_unit
    output.scale_by_reciprocal = plan.scale_by_reciprocal
    output.mean, output.deviation = plan.mean, plan.std
    if plan.noise is not None:
        native.noise = _noise_plan(plan.noise)
    if plan.erasing is not None:
        native.erasing = _erasing_plan(plan.erasing)
    native.validate()
    return native


def _padding(given: Padding) -> Any:
    from unstarve import _native

    surround, padding = _native.Surround(), _native.Padding()
    surround.mode, surround.colour = getattr(_native.Surround.Mode, given.mode), given.fill
    padding.widths, padding.surround = given.widths, surround
    return padding


def _colour_step(given: Colour) -> Any:
    from unstarve import _native

    step = _native.ColourStep()
    step.kind = getattr(_native.ColourStep.Kind, given.kind)
    step.probability = given.probability
    for name in ("brightness", "contrast", "saturation", "hue"):
        setattr(step, name, getattr(given, name))
    if given.augment is not None:
        step.augment = _augment_plan(given.augment)
    if given.blur is not None:
        blur = _native.BlurPlan()
        blur.taps_across, blur.taps_down = given.blur.taps
        blur.sigma_min, blur.sigma_max = given.blur.sigma
        step.blur = blur
    if given.affine is not None:
        step.affine = _affine_plan(given.affine)
    if given.perspective is not None:
        step.perspective = _perspective_plan(given.perspective)
    if given.mix is not None:
        step.mix = _mix_plan(given.mix)
    if given.jpeg is not None:
        jpeg = _native.JpegPlan()
        jpeg.quality_min, jpeg.quality_max = given.jpeg
        step.jpeg = jpeg
    if given.elastic is not None:
        step.elastic = _elastic_plan(given.elastic)
    if given.choices:
        step.choices = [_colour_choice(one) for one in given.choices]
    return step


def _colour_choice(given: Choice) -> Any:
    from unstarve import _native

    choice = _native.ColourChoice()
    choice.weight = given.weight
    choice.steps = [_colour_step(step) for step in given.steps]
    return choice


def _affine_plan(given: Affine) -> Any:
    from unstarve import _native

    plan = _native.AffinePlan()
    plan.degrees, plan.scale = given.degrees, given.scale
    plan.across, plan.down = given.translate
    plan.shear_x, plan.shear_y = given.shear_x, given.shear_y
    plan.between = getattr(_native.AugmentPlan.Between, given.between)
    plan.fill = given.fill
    return plan


def _perspective_plan(given: Perspective) -> Any:
    from unstarve import _native

    plan = _native.PerspectivePlan()
    plan.distortion, plan.fill, plan.of_tensor = given.distortion, given.fill, given.of_tensor
    plan.between = getattr(_native.AugmentPlan.Between, given.between)
    return plan


def _mix_plan(given: Mix) -> Any:
    from unstarve import _native

    plan = _native.MixPlan()
    plan.changes = [_change(one) for one in given.changes]
    plan.width, plan.depth, plan.alpha, plan.fill = (
        given.width,
        given.depth,
        given.alpha,
        given.fill,
    )
    plan.between = getattr(_native.AugmentPlan.Between, given.between)
    return plan


def _elastic_plan(given: Elastic) -> Any:
    from unstarve import _native

    plan = _native.ElasticPlan()
    plan.alpha, plan.sigma, plan.fill = given.alpha, given.sigma, given.fill
    plan.between = getattr(_native.AugmentPlan.Between, given.between)
    return plan


def _augment_plan(given: Augment) -> Any:
    from unstarve import _native

    plan = _native.AugmentPlan()
    plan.rounds, plan.fill = given.rounds, given.fill
    plan.between = getattr(_native.AugmentPlan.Between, given.between)
    plan.sets = [[_change(one) for one in changes] for changes in given.sets]
    return plan


def _change(given: Change) -> Any:
    from unstarve import _native

    change = _native.AugmentChange()
    change.kind = getattr(_native.AugmentChange.Kind, given.kind)
    change.probability, change.is_signed = given.probability, given.is_signed
    change.magnitudes = list(given.magnitudes)
    return change


def _noise_plan(given: Noise) -> Any:
    from unstarve import _native

    noise = _native.NoisePlan()
    noise.probability, noise.mean, noise.deviation = given.probability, given.mean, given.sigma
    noise.clips, noise.after_normalising = given.clips, given.after_normalising
    return noise


def _erasing_plan(given: Erasing) -> Any:
    from unstarve import _native

    erasing = _native.ErasingPlan()
    erasing.probability = given.probability
    erasing.scale_min, erasing.scale_max = given.scale
    erasing.ratio_min, erasing.ratio_max = given.ratio
    erasing.noise = given.value is None
    erasing.value = (0.0, 0.0, 0.0) if given.value is None else given.value
    return erasing
