#pragma once

#include "cost/rates/rates.h"
#include "report/model/report_model.h"
#include "trial/trial_folder.h"

namespace unstarve::report {

/// An examined run or trace as text and page show it: with where and how it took place, the GPU's
/// utilisation, and what watching cost, which are read from the run's folder.
Report make_report(const examine::Examination& examined);

/// The same with what was tried.
Report make_report(const trial::TriedJob& job);

/// Adds what an examined run cost at `rates`, and what the change that the report names gives back.
void add_cost(const examine::Examination& examined, const cost::Rates& rates, Report& report);

}  // namespace unstarve::report
