#pragma once

#include "diagnose/diagnosis/diagnosis.h"
#include "diagnose/signals/derive.h"

namespace unstarve::diagnose {

/// Says of each finding which code of the job its time goes to, where looks at the job's stacks
/// were recorded: fills `code` of the findings, with a sentence of evidence, and `own_code`; and
/// whose compiled code ran under it, `fetch_libraries`.
void name_code(const SignalSources& sources, Diagnosis& diagnosis);

}  // namespace unstarve::diagnose
