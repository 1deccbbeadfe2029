#include "report/json.h"

#include <cmath>
#include <nlohmann/json.hpp>
#include <span>

#include "base/units.h"
#include "diagnose/errors/xid_catalogue.h"
#include "launch/emulation/roofline_range.h"
#include "report/costs/cost_json.h"
#include "report/headline.h"
#include "report/roofline/position_json.h"
#include "report/words/json_text.h"
#include "report/words/words.h"

namespace unstarve::report {
namespace {

using Json = nlohmann::ordered_json;

Json absent(WhyAbsent why) { return Json{{"absent", std::string(to_string(why))}}; }

/// JSON has no NaN and no infinity: a number that is neither was not observed.
Json number(double value) {
  return std::isfinite(value) ? Json(value) : absent(WhyAbsent::kNotObserved);
}

Json number(const Reading<double>& reading) {
  return reading ? number(*reading) : absent(reading.why_absent());
}

Json partition_json(const diagnose::Partition& partition) {
  Json json = Json::object();
  for (const ShareWord& word : share_words()) {
    json[std::string(word.name)] = number(partition.*word.share);
  }
  return json;
}

Json speedup_json(const predict::Speedup& speedup) {
  return Json{{"speedup", number(speedup.speedup)},
              {"low", number(speedup.low)},
              {"high", number(speedup.high)}};
}

Json speedup_json(const Reading<predict::Speedup>& speedup) {
  return speedup ? speedup_json(*speedup) : absent(speedup.why_absent());
}

Json recorded_json(const diagnose::RecordedTime& recorded) {
  return Json{{"recorded_us", number(recorded.recorded_us)},
              {"windows", recorded.windows},
              {"steps", number(recorded.steps)},
              {"clock_error_us", number(recorded.clock_error_us)},
              {"partition", partition_json(recorded.partition)}};
}

Json device_json(const diagnose::DeviceDiagnosis& device) {
  Json json = Json::object();
  json["index"] = device.info.index;
  json["name"] =
      device.info.name.empty() ? absent(WhyAbsent::kNotObserved) : Json(device.info.name);
  if (device.info.emulated) json["emulated"] = true;
  json["span_us"] = number(device.span_us);
  json["gpu_busy_ratio"] = number(device.gpu_busy_ratio);
  json["edge_busy_ratio"] = number(device.edge_busy_ratio);
  json["partition"] = partition_json(device.partition);
  if (device.recorded) json["recorded"] = recorded_json(*device.recorded);
  return json;
}

Json remedy_json(const advise::Remedy& remedy) {
  Json json = {{"id", remedy.id}, {"how", remedy.how}};
  if (!remedy.values.empty()) json["values"] = remedy.values;
  if (!remedy.edit.empty()) json["edit"] = remedy.edit;
  if (!remedy.beside_edit.empty()) json["beside_edit"] = remedy.beside_edit;
  json["predicted"] = speedup_json(remedy.predicted);
  return json;
}

Json remedies_json(std::span<const advise::Remedy> remedies) {
  Json list = Json::array();
  for (const advise::Remedy& remedy : remedies) list.push_back(remedy_json(remedy));
  return list;
}

Json conditions_json(const std::vector<diagnose::Condition>& conditions) {
  Json list = Json::array();
  for (const diagnose::Condition& condition : conditions) {
    list.push_back(Json{{"rule", condition.rule}, {"evidence", condition.evidence}});
  }
  return list;
}

Json hints_json(const diagnose::Diagnosis& diagnosis, const advise::Advice& advice) {
  Json list = Json::array();
  for (std::size_t i = 0; i < diagnosis.hints.size(); ++i) {
    const diagnose::Hint& hint = diagnosis.hints[i];
    list.push_back(Json{{"rule", hint.rule},
                        {"says", hint.says},
                        {"cannot_tell", hint.cannot_tell},
                        {"remedies", remedies_json(advice.of_hint(i))}});
  }
  return list;
}

/// Of whoever was looked at; an empty list where nobody was, or too seldom.
Json code_json(const diagnose::CodeTime& time) {
  Json list = Json::array();
  for (const diagnose::CodeShare& code : time.parts) {
    Json json = Json::object();
    if (!code.place.empty()) json["place"] = code.place;
    if (!code.call.empty()) json["call"] = code.call;
    if (!code.what.empty()) json["what"] = code.what;
    json["share"] = number(code.share);
    json["looks"] = code.looks;
    list.push_back(std::move(json));
  }
  return list;
}

Json libraries_json(const diagnose::LibraryTime& time) {
  Json list = Json::array();
  for (const diagnose::LibraryShare& part : time.parts) {
    Json json = Json{{"library", part.library}, {"share", number(part.share)}};
    if (!part.what.empty()) json["what"] = part.what;
    list.push_back(std::move(json));
  }
  return Json{{"looks", time.looks}, {"parts", std::move(list)}};
}

Json finding_json(const diagnose::Finding& finding, std::span<const advise::Remedy> remedies) {
  Json json = Json::object();
  json["cause"] = finding.cause;
  json["detail"] = finding.detail;
  if (!finding.work.empty()) json["work"] = finding.work;
  json["share"] = number(finding.share);
  json["confidence"] = std::string(confidence_name(finding.confidence));
  json["evidence"] = finding.evidence;
  if (!finding.code.parts.empty()) json["code"] = code_json(finding.code);
  json["remedies"] = remedies_json(remedies);
  return json;
}

Json measurement_json(const Measurement& measurement) {
  return Json{{"step_us", number(measurement.step_us)},
              {"au", number(measurement.au)},
              {"samples_per_s", number(measurement.samples_per_s)},
              {"cpu_cores", number(measurement.cpu_cores)}};
}

Json verification_json(const std::vector<Verification>& verification) {
  Json list = Json::array();
  for (const Verification& tried : verification) {
    list.push_back(Json{{"remedy", tried.remedy},
                        {"predicted", speedup_json(tried.predicted)},
                        {"measured", speedup_json(tried.measured)},
                        {"held", tried.held},
                        {"base", tried.base},
                        {"outcome", std::string(to_string(tried.outcome))},
                        {"before", measurement_json(tried.before)},
                        {"after", measurement_json(tried.after)}});
    if (tried.again) list.back()["again"] = measurement_json(*tried.again);
    if (!tried.permanent.empty()) list.back()["permanent"] = tried.permanent;
    if (!tried.diff.empty()) list.back()["diff"] = tried.diff;
  }
  return list;
}

Json input_json(const diagnose::Diagnosis& diagnosis) {
  return Json{{"kind", std::string(input_kind_name(diagnosis.input))}, {"file", diagnosis.file}};
}

Json abstentions_json(const std::vector<diagnose::Abstention>& abstentions) {
  Json list = Json::array();
  for (const diagnose::Abstention& silent : abstentions) {
    list.push_back(Json{{"rule", silent.rule},
                        {"signal", silent.signal},
                        {"absent", std::string(to_string(silent.why))}});
  }
  return list;
}

Json thread_time_json(const Reading<diagnose::ThreadTime>& time) {
  if (!time) return absent(time.why_absent());
  return Json{{"input_wait", number((*time).input_wait)},
              {"sync", number((*time).sync)},
              {"own_work", number((*time).own_work)}};
}

Json rank_json(const diagnose::RankRow& row) {
  const auto integer = [](const Reading<std::int64_t>& value) {
    return value ? Json(*value) : absent(value.why_absent());
  };
  return Json{{"rank", integer(row.number)},
              {"process", row.process},
              {"device", integer(row.device)},
              {"step_us", number(row.step_us)},
              {"input_wait", number(row.input_wait)},
              {"compute", number(row.compute)},
              {"communication", number(row.communication)},
              {"copy", number(row.copy)},
              {"sync", number(row.sync)},
              {"host", number(row.host)}};
}

Json ranks_json(const diagnose::RankComparison& ranks) {
  Json list = Json::array();
  for (const diagnose::RankRow& row : ranks.rows) list.push_back(rank_json(row));
  Json json = {{"each", std::move(list)}};
  if (const auto& late = ranks.straggler) {
    json["straggler"] = {{"at", late->row},
                         {"late_ratio", number(late->late_ratio)},
                         {"because", late->because},
                         {"because_ratio", number(late->because_ratio)}};
  }
  return json;
}

Json not_observed_json(const std::vector<advise::NotObserved>& not_observed) {
  Json list = Json::array();
  for (const advise::NotObserved& unseen : not_observed) {
    list.push_back(Json{{"what", unseen.what}, {"why", unseen.why}, {"how", unseen.how}});
  }
  return list;
}

Json events_json(const std::vector<diagnose::NamedEvent>& events) {
  Json list = Json::array();
  for (const diagnose::NamedEvent& event : events) {
    Json json = {{"event", std::string(event_name(event.kind))}, {"count", event.count}};
    json["total_us"] = number(event.total_us);
    json["share"] = number(event.share);
    if (!event.place.empty()) json["place"] = event.place;
    list.push_back(std::move(json));
  }
  return list;
}

Json gpu_errors_json(const std::vector<diagnose::GpuErrorGroup>& errors) {
  Json list = Json::array();
  for (const diagnose::GpuErrorGroup& error : errors) {
    const diagnose::XidWords words = diagnose::words_of_xid(error.xid);
    Json json = {{"device", error.device}, {"xid", error.xid}};
    if (!words.meaning.empty()) json["meaning"] = std::string(words.meaning);
    json["advice"] = std::string(words.advice);
    json["count"] = error.count;
    json["first_at_s"] = number(error.first_at_s);
    json["after_steps"] = error.after_steps;
    if (error.gpu_instance) json["gpu_instance"] = *error.gpu_instance;
    list.push_back(std::move(json));
  }
  return list;
}

/// What a step is of which a report counts so many.
std::string_view counted_by(const diagnose::Diagnosis& diagnosis) {
  if (diagnosis.input != trace::InputKind::kRun) return "profiler_step";
  switch (diagnosis.steps.source) {
    case trace::StepSource::kLoaderBatch: return "loader_batch";
    case trace::StepSource::kBackward: return "backward";
    case trace::StepSource::kModelCall: return "model_call";
    case trace::StepSource::kRepetition: return "kernel_repetition";
    case trace::StepSource::kOptimizer: break;
  }
  return "optimizer_step";
}

/// How a run's job ended; what it is not known of is left out.
Json job_json(const RunFacts& facts) {
  Json json = {{"steps", facts.steps}, {"failed", job_failed(facts)}};
  json["exit_code"] =
      facts.exit_code ? Json(*facts.exit_code) : absent(facts.exit_code.why_absent());
  if (!facts.exit_signal.empty()) json["exit_signal"] = facts.exit_signal;
  if (!facts.error.kind.empty()) {
    json["error"] = {
        {"kind", facts.error.kind}, {"message", facts.error.message}, {"place", facts.error.place}};
  }
  if (!facts.no_steps.empty()) json["no_steps"] = facts.no_steps;
  if (facts.kept.one_slot_of > 1) {
    json["thinned"] = {{"one_slot_of", facts.kept.one_slot_of},
                       {"slot_s", facts.kept.slot_s},
                       {"steps_kept", facts.kept.steps},
                       {"windows_left_out", facts.kept.windows_left_out}};
  }
  if (!facts.mig.empty()) json["mig"] = facts.mig;
  if (!facts.losses.empty()) json["losses"] = facts.losses;
  return json;
}

std::string_view name_of(job::AsideReason reason) {
  switch (reason) {
    case job::AsideReason::kTrainsOnHost: return "trains_on_cpu";
    case job::AsideReason::kTooLittle: return "too_little";
    case job::AsideReason::kHardlyUsed: break;
  }
  return "hardly_used";
}

Json set_aside_json(const job::SetAside& aside) {
  return {{"reason", std::string(name_of(aside.reason))},
          {"operations", aside.operations},
          {"busy_us", number(static_cast<double>(aside.busy_ns) / kNsPerUs)},
          {"of_us", number(static_cast<double>(aside.of_ns) / kNsPerUs)}};
}

Json diagnosis_json(const diagnose::Diagnosis& diagnosis, const advise::Advice& advice) {
  Json json = Json::object();
  json["schema"] = "unstarve.diagnosis/1";
  if (!diagnosis.run_id.empty()) json["run_id"] = diagnosis.run_id;
  json["input"] = input_json(diagnosis);
  json["devices"] = Json::array();
  for (const auto& device : diagnosis.devices) json["devices"].push_back(device_json(device));
  json["steps"] = Json{{"count", diagnosis.steps.count},
                       {"counted_by", std::string(counted_by(diagnosis))},
                       {"mean_us", number(diagnosis.steps.mean_us)},
                       {"median_us", number(diagnosis.steps.median_us)},
                       {"samples_per_s", number(diagnosis.steps.samples_per_s)}};
  json["thread_time"] = thread_time_json(diagnosis.thread_time);
  if (!diagnosis.own_code.parts.empty()) json["own_code"] = code_json(diagnosis.own_code);
  if (diagnosis.fetch_libraries.looks > 0) {
    json["fetch_libraries"] = libraries_json(diagnosis.fetch_libraries);
  }
  json["partition"] = diagnosis.partition ? partition_json(*diagnosis.partition)
                                          : absent(diagnosis.partition.why_absent());
  if (diagnosis.set_aside) json["gpu_set_aside"] = set_aside_json(*diagnosis.set_aside);
  json["copies"] = Json{{"h2d_bytes", diagnosis.copies.h2d_bytes},
                        {"h2d_count", diagnosis.copies.h2d_count},
                        {"pageable_ratio", number(diagnosis.copies.pageable_ratio)}};
  if (!diagnosis.ranks.rows.empty()) json["ranks"] = ranks_json(diagnosis.ranks);
  if (advice.leading_finding) json["leading_finding"] = *advice.leading_finding;
  if (advice.next_remedy) json["next_remedy"] = advice.next_remedy->id;
  if (const advise::Remedy* const maybe = advice.most_worth_a_trial()) {
    json["worth_a_trial"] = remedy_json(*maybe);
  }
  json["findings"] = Json::array();
  for (std::size_t i = 0; i < diagnosis.findings.size(); ++i) {
    json["findings"].push_back(finding_json(diagnosis.findings[i], advice.of_finding(i)));
  }
  if (!diagnosis.events.empty()) json["events"] = events_json(diagnosis.events);
  if (!diagnosis.gpu_errors.empty()) json["gpu_errors"] = gpu_errors_json(diagnosis.gpu_errors);
  if (!diagnosis.conditions.empty()) json["conditions"] = conditions_json(diagnosis.conditions);
  json["hints"] = hints_json(diagnosis, advice);
  json["abstentions"] = abstentions_json(diagnosis.abstentions);
  json["not_observed"] = not_observed_json(advice.not_observed);
  json["verdict"] = advice.verdict;
  return json;
}

/// What is behind an emulated GPU's durations, and how far the roofline's are from real ones.
Json durations_json(const std::string& from) {
  Json json = {{"from", from}};
  if (from != "roofline") return json;
  constexpr launch::RooflineRange kRange = launch::kRooflineRange;
  json["real_over_modelled"] = {{"figures", kRange.figures},
                                {"half", {kRange.half_low, kRange.half_high}},
                                {"all", {kRange.all_low, kRange.all_high}}};
  return json;
}

Json stages_json(const std::vector<examine::Stage>& stages) {
  Json list = Json::array();
  for (const examine::Stage& stage : stages) {
    Json json = {{"stage", stage.name}, {"run", stage.run_dir}};
    json["duration_s"] = number(stage.duration_s);
    json["exit_code"] =
        stage.exit_code ? Json(*stage.exit_code) : absent(stage.exit_code.why_absent());
    json["cause"] = stage.cause;
    json["detail"] = stage.detail;
    json["share"] = number(stage.share);
    list.push_back(std::move(json));
  }
  return list;
}

}  // namespace

std::string to_json(const Report& report, bool with_verification) {
  Json json = diagnosis_json(report.diagnosis, report.advice);
  if (report.diagnosis.input == trace::InputKind::kRun) json["job"] = job_json(report.facts);
  if (const std::string& from = report.facts.emulated_durations; !from.empty()) {
    json["emulated_durations"] = durations_json(from);
  }
  if (report.position) json["position"] = position_json(*report.position);
  if (report.cost) json["cost"] = cost_json(*report.cost);
  if (!report.stages.empty()) json["stages"] = stages_json(report.stages);
  if (with_verification) json["verification"] = verification_json(report.verification);
  return json_text(json);
}

}  // namespace unstarve::report
