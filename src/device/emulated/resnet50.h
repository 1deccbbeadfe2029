#pragma once

#include "device/emulated/profile.h"
#include "device/emulated/training_model.h"

namespace unstarve::device::emulated {

/// ResNet-50 v1.5 at 224 x 224 with SGD and momentum. The kernels and their proportions follow from
/// the network's layers (floating point operations and bytes of each); their sum at the profile's
/// reference batch is the profile's published step time, exactly.
TrainingModel resnet50(const Profile& profile);

}  // namespace unstarve::device::emulated
