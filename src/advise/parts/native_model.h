#pragma once

#include <optional>

#include "advise/parts/prediction_basis.h"
#include "predict/what_if.h"

namespace unstarve::advise {

/// unstarve's loader in the place of the job's, at this cost; nothing where it was not measured.
std::optional<predict::Remedy> native_model(const std::optional<LoaderCost>& cost,
                                            const PredictionBasis& basis);

/// The same for unstarve.DataLoader, which does as torch's where the job asks for page-locked
/// memory: the training thread copies each batch there.
std::optional<predict::Remedy> drop_in_model(const std::optional<LoaderCost>& cost,
                                             const PredictionBasis& basis);

}  // namespace unstarve::advise
