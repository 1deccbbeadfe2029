#pragma once

#include <string>
#include <utility>

#include "advise/parts/prediction_basis.h"
#include "examine/examination.h"

namespace unstarve::examine {

/// What unstarve's loader hands over when it reads the folder.
enum class NativeOutput {
  kUint8,    // unstarve.ImageLoader: pixels, normalised on the device
  kFloat32,  // unstarve.DataLoader in torch's place: what ToTensor and Normalize make
};

/// Where the examined job is advised to take unstarve's loader and its images are known: loads some
/// of them for about two seconds, transformed as the job does it, with one thread and with all
/// usable cores; then fills a cache
/// with some, and packs them, both in a temporary folder, and loads them from there for a second
/// each. Elsewhere an empty calibration, at once.
advise::Calibration calibrate_for(const Examination& examined, NativeOutput output);

/// The same for a folder of images, one sub-folder a class, whatever is advised.
advise::Calibration calibrate_images(const std::string& image_folder, NativeOutput output);

/// Predicts with such a calibration for unstarve.DataLoader, and says what the first epoch of a
/// cache costs. Where more workers are advised, measures for a third of a second what a second core
/// adds on this machine.
void predict_calibrated(Examination& examined);

/// Makes the hook measure, before the training of a trial begins, what the job's own batches cost
/// in worker processes (docs/hook.md): a name and a value for its environment.
std::pair<std::string, std::string> worker_calibration_variable();

/// Whether calibrate_for() takes its time.
bool calibration_helps(const Examination& examined);

}  // namespace unstarve::examine
