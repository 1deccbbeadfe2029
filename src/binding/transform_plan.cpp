#include "feed/data/transform_plan.h"

#include <nanobind/nanobind.h>
#include <nanobind/stl/array.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/vector.h>

#include <optional>
#include <utility>

#include "binding/errors.h"

namespace nb = nanobind;

namespace unstarve::binding {
namespace {

using feed::AffinePlan;
using feed::AugmentChange;
using feed::AugmentPlan;
using feed::BlurPlan;
using feed::ColourChoice;
using feed::ColourStep;
using feed::ElasticPlan;
using feed::ErasingPlan;
using feed::GeometryPlan;
using feed::JpegPlan;
using feed::MixPlan;
using feed::NoisePlan;
using feed::OutputPlan;
using feed::Padding;
using feed::PerspectivePlan;
using feed::Surround;
using feed::TransformPlan;

using Pair = std::pair<double, double>;
using Bounds = std::optional<ColourStep::Bounds>;

/// A member of type Bounds as a Python property: a pair (low, high), or None.
template <Bounds ColourStep::*member>
void bind_bounds(nb::class_<ColourStep>& step, const char* name) {
  step.def_prop_rw(
      name,
      [](const ColourStep& self) {
        const Bounds& bounds = self.*member;
        return bounds ? std::optional<Pair>({bounds->low, bounds->high}) : std::nullopt;
      },
      [](ColourStep& self, std::optional<Pair> value) {
        self.*member = value ? Bounds({value->first, value->second}) : std::nullopt;
      },
      nb::arg("value").none());
}

void bind_padding(nb::module_& module) {
  nb::class_<Surround> surround(module, "Surround");
  nb::enum_<Surround::Mode>(surround, "Mode")
      .value("constant", Surround::Mode::kConstant)
      .value("edge", Surround::Mode::kEdge)
      .value("reflect", Surround::Mode::kReflect)
      .value("symmetric", Surround::Mode::kSymmetric);
  surround.def(nb::init<>()).def_rw("mode", &Surround::mode).def_rw("colour", &Surround::colour);
  nb::class_<Padding>(module, "Padding")
      .def(nb::init<>())
      .def_prop_rw(
          "widths",
          [](const Padding& self) {
            return std::array{self.left, self.top, self.right, self.bottom};
          },
          [](Padding& self, const std::array<int, 4>& value) {
            self = {value[0], value[1], value[2], value[3], self.surround};
          })
      .def_rw("surround", &Padding::surround);
}

void bind_geometry(nb::module_& module) {
  nb::enum_<feed::Interpolation>(module, "Interpolation")
      .value("bilinear", feed::Interpolation::kBilinear)
      .value("bicubic", feed::Interpolation::kBicubic);
  bind_padding(module);
  nb::class_<GeometryPlan> geometry(module, "GeometryPlan");
  nb::enum_<GeometryPlan::Kind>(geometry, "Kind")
      .value("random_resized_crop", GeometryPlan::Kind::kRandomResizedCrop)
      .value("resize_center_crop", GeometryPlan::Kind::kResizeCenterCrop)
      .value("resize_random_crop", GeometryPlan::Kind::kResizeRandomCrop)
      .value("resize", GeometryPlan::Kind::kResize)
      .value("center_crop", GeometryPlan::Kind::kCenterCrop)
      .value("random_crop", GeometryPlan::Kind::kRandomCrop);
  geometry.def(nb::init<>())
      .def_rw("kind", &GeometryPlan::kind)
      .def_prop_rw(
          "width", [](const GeometryPlan& self) { return self.size.width; },
          [](GeometryPlan& self, int value) { self.size.width = value; })
      .def_prop_rw(
          "height", [](const GeometryPlan& self) { return self.size.height; },
          [](GeometryPlan& self, int value) { self.size.height = value; })
      .def_rw("resize_short", &GeometryPlan::resize_short)
      .def_prop_rw(
          "resize_to",
          [](const GeometryPlan& self) {
            return std::pair(self.resize_to.height, self.resize_to.width);
          },
          [](GeometryPlan& self, std::pair<int, int> value) {
            self.resize_to = {value.second, value.first};
          })
      .def_rw("padding", &GeometryPlan::padding)
      .def_rw("frame", &GeometryPlan::frame)
      .def_rw("pads_if_needed", &GeometryPlan::pads_if_needed)
      .def_rw("scale_min", &GeometryPlan::scale_min)
      .def_rw("scale_max", &GeometryPlan::scale_max)
      .def_rw("ratio_min", &GeometryPlan::ratio_min)
      .def_rw("ratio_max", &GeometryPlan::ratio_max)
      .def_rw("interpolation", &GeometryPlan::interpolation)
      .def_rw("either_interpolation", &GeometryPlan::either_interpolation)
      .def_rw("horizontal_flip_probability", &GeometryPlan::horizontal_flip_probability)
      .def_rw("vertical_flip_probability", &GeometryPlan::vertical_flip_probability);
}

void bind_augment(nb::module_& module) {
  nb::class_<AugmentChange> change(module, "AugmentChange");
  nb::enum_<AugmentChange::Kind>(change, "Kind")
      .value("identity", AugmentChange::Kind::kIdentity)
      .value("shear_x", AugmentChange::Kind::kShearX)
      .value("shear_y", AugmentChange::Kind::kShearY)
      .value("translate_x", AugmentChange::Kind::kTranslateX)
      .value("translate_y", AugmentChange::Kind::kTranslateY)
      .value("rotate", AugmentChange::Kind::kRotate)
      .value("brightness", AugmentChange::Kind::kBrightness)
      .value("contrast", AugmentChange::Kind::kContrast)
      .value("saturation", AugmentChange::Kind::kSaturation)
      .value("sharpness", AugmentChange::Kind::kSharpness)
      .value("posterize", AugmentChange::Kind::kPosterize)
      .value("solarize", AugmentChange::Kind::kSolarize)
      .value("autocontrast", AugmentChange::Kind::kAutoContrast)
      .value("equalize", AugmentChange::Kind::kEqualize)
      .value("invert", AugmentChange::Kind::kInvert)
      .value("solarize_add", AugmentChange::Kind::kSolarizeAdd);
  change.def(nb::init<>())
      .def_rw("kind", &AugmentChange::kind)
      .def_rw("probability", &AugmentChange::probability)
      .def_rw("magnitudes", &AugmentChange::magnitudes)
      .def_rw("is_signed", &AugmentChange::is_signed);
  nb::class_<AugmentPlan> plan(module, "AugmentPlan");
  nb::enum_<AugmentPlan::Between>(plan, "Between")
      .value("nearest", AugmentPlan::Between::kNearest)
      .value("bilinear", AugmentPlan::Between::kBilinear)
      .value("bicubic", AugmentPlan::Between::kBicubic)
      .value("either", AugmentPlan::Between::kEither);
  plan.def(nb::init<>())
      .def_rw("sets", &AugmentPlan::sets)  // a copy, as all lists here
      .def_rw("rounds", &AugmentPlan::rounds)
      .def_rw("between", &AugmentPlan::between)
      .def_rw("fill", &AugmentPlan::fill);
}

void bind_blur(nb::module_& module) {
  nb::class_<BlurPlan>(module, "BlurPlan")
      .def(nb::init<>())
      .def_rw("taps_across", &BlurPlan::taps_across)
      .def_rw("taps_down", &BlurPlan::taps_down)
      .def_rw("sigma_min", &BlurPlan::sigma_min)
      .def_rw("sigma_max", &BlurPlan::sigma_max);
}

void bind_affine(nb::module_& module) {
  nb::class_<AffinePlan>(module, "AffinePlan")
      .def(nb::init<>())
      .def_rw("degrees", &AffinePlan::degrees)
      .def_rw("across", &AffinePlan::across)
      .def_rw("down", &AffinePlan::down)
      .def_rw("scale", &AffinePlan::scale)
      .def_rw("shear_x", &AffinePlan::shear_x)
      .def_rw("shear_y", &AffinePlan::shear_y)
      .def_rw("between", &AffinePlan::between)
      .def_rw("fill", &AffinePlan::fill);
}

void bind_perspective(nb::module_& module) {
  nb::class_<PerspectivePlan>(module, "PerspectivePlan")
      .def(nb::init<>())
      .def_rw("distortion", &PerspectivePlan::distortion)
      .def_rw("between", &PerspectivePlan::between)
      .def_rw("fill", &PerspectivePlan::fill)
      .def_rw("of_tensor", &PerspectivePlan::of_tensor);
}

void bind_mix(nb::module_& module) {
  nb::class_<MixPlan>(module, "MixPlan")
      .def(nb::init<>())
      .def_rw("changes", &MixPlan::changes)  // a copy, as all lists here
      .def_rw("width", &MixPlan::width)
      .def_rw("depth", &MixPlan::depth)
      .def_rw("alpha", &MixPlan::alpha)
      .def_rw("between", &MixPlan::between)
      .def_rw("fill", &MixPlan::fill, nb::arg("value").none());
}

void bind_elastic(nb::module_& module) {
  nb::class_<ElasticPlan>(module, "ElasticPlan")
      .def(nb::init<>())
      .def_rw("alpha", &ElasticPlan::alpha)
      .def_rw("sigma", &ElasticPlan::sigma)
      .def_rw("between", &ElasticPlan::between)
      .def_rw("fill", &ElasticPlan::fill, nb::arg("value").none());
}

void bind_jpeg(nb::module_& module) {
  nb::class_<JpegPlan>(module, "JpegPlan")
      .def(nb::init<>())
      .def_rw("quality_min", &JpegPlan::quality_min)
      .def_rw("quality_max", &JpegPlan::quality_max);
}

void bind_colour(nb::module_& module) {
  nb::class_<ColourStep> step(module, "ColourStep");
  nb::enum_<ColourStep::Kind>(step, "Kind")
      .value("jitter", ColourStep::Kind::kJitter)
      .value("greyscale", ColourStep::Kind::kGreyscale)
      .value("augment", ColourStep::Kind::kAugment)
      .value("blur", ColourStep::Kind::kBlur)
      .value("affine", ColourStep::Kind::kAffine)
      .value("perspective", ColourStep::Kind::kPerspective)
      .value("mix", ColourStep::Kind::kMix)
      .value("jpeg", ColourStep::Kind::kJpeg)
      .value("choice", ColourStep::Kind::kChoice)
      .value("elastic", ColourStep::Kind::kElastic);
  step.def(nb::init<>())
      .def_rw("kind", &ColourStep::kind)
      .def_rw("probability", &ColourStep::probability)
      .def_rw("augment", &ColourStep::augment)
      .def_rw("blur", &ColourStep::blur)
      .def_rw("affine", &ColourStep::affine)
      .def_rw("perspective", &ColourStep::perspective)
      .def_rw("mix", &ColourStep::mix)
      .def_rw("jpeg", &ColourStep::jpeg)
      .def_rw("elastic", &ColourStep::elastic)
      .def_rw("choices", &ColourStep::choices);  // a copy
  bind_bounds<&ColourStep::brightness>(step, "brightness");
  bind_bounds<&ColourStep::contrast>(step, "contrast");
  bind_bounds<&ColourStep::saturation>(step, "saturation");
  bind_bounds<&ColourStep::hue>(step, "hue");
}

void bind_choice(nb::module_& module) {
  nb::class_<ColourChoice>(module, "ColourChoice")
      .def(nb::init<>())
      .def_rw("weight", &ColourChoice::weight)
      .def_rw("steps", &ColourChoice::steps);  // a copy
}

void bind_output(nb::module_& module) {
  nb::class_<OutputPlan> output(module, "OutputPlan");
  nb::enum_<OutputPlan::Type>(output, "Type")
      .value("uint8", OutputPlan::Type::kUint8)
      .value("float32", OutputPlan::Type::kFloat32)
      .value("float16", OutputPlan::Type::kFloat16)
      .value("bfloat16", OutputPlan::Type::kBfloat16);
  nb::enum_<OutputPlan::Layout>(output, "Layout")
      .value("nhwc", OutputPlan::Layout::kNhwc)
      .value("nchw", OutputPlan::Layout::kNchw);
  output.def(nb::init<>())
      .def_rw("type", &OutputPlan::type)
      .def_rw("layout", &OutputPlan::layout)
      .def_rw("scale_to_unit", &OutputPlan::scale_to_unit)
      .def_rw("scale_by_reciprocal", &OutputPlan::scale_by_reciprocal)
      .def_rw("mean", &OutputPlan::mean, nb::arg("value").none())
      .def_rw("deviation", &OutputPlan::deviation, nb::arg("value").none());
}

void bind_noise(nb::module_& module) {
  nb::class_<NoisePlan>(module, "NoisePlan")
      .def(nb::init<>())
      .def_rw("probability", &NoisePlan::probability)
      .def_rw("mean", &NoisePlan::mean)
      .def_rw("deviation", &NoisePlan::deviation)
      .def_rw("clips", &NoisePlan::clips)
      .def_rw("after_normalising", &NoisePlan::after_normalising);
}

void bind_erasing(nb::module_& module) {
  nb::class_<ErasingPlan>(module, "ErasingPlan")
      .def(nb::init<>())
      .def_rw("probability", &ErasingPlan::probability)
      .def_rw("scale_min", &ErasingPlan::scale_min)
      .def_rw("scale_max", &ErasingPlan::scale_max)
      .def_rw("ratio_min", &ErasingPlan::ratio_min)
      .def_rw("ratio_max", &ErasingPlan::ratio_max)
      .def_rw("noise", &ErasingPlan::noise)
      .def_rw("value", &ErasingPlan::value);
}

}  // namespace

void bind_transform_plan(nb::module_& module) {
  bind_geometry(module);
  bind_augment(module);
  bind_blur(module);
  bind_affine(module);
  bind_perspective(module);
  bind_mix(module);
  bind_elastic(module);
  bind_jpeg(module);
  bind_colour(module);
  bind_choice(module);
  bind_output(module);
  bind_noise(module);
  bind_erasing(module);
  nb::class_<TransformPlan>(module, "TransformPlan")
      .def(nb::init<>())
      .def_rw("geometry", &TransformPlan::geometry)
      .def_rw("colour", &TransformPlan::colour)  // a copy: assign a list, do not append to it
      .def_rw("output", &TransformPlan::output)
      .def_rw("noise", &TransformPlan::noise, nb::arg("value").none())
      .def_rw("erasing", &TransformPlan::erasing, nb::arg("value").none())
      .def("validate", [](const TransformPlan& self) {
        if (Status status = feed::validate(self); !status) raise(status.error());
      });
  module.def("training_crop", &feed::training_crop, nb::arg("size"));
  module.def("evaluation_crop", &feed::evaluation_crop, nb::arg("size"), nb::arg("resize_short"));
}

}  // namespace unstarve::binding
