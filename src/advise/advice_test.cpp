#include "advise/advice.h"

#include <gtest/gtest.h>

#include <map>

#include "advise/catalogue.h"
#include "diagnose/diagnose.h"
#include "diagnose/testing/starving_run.h"

namespace unstarve::advise {
namespace {

using diagnose::Diagnosis;
using diagnose::Finding;
using diagnose::test::starving_run;

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

Advice advise_on(const Diagnosis& diagnosis, const JobFacts& job = {},
                 const std::map<std::string, predict::Speedup>& gains = {}) {
  return advise(diagnosis, job, {gains, {}});
}

JobFacts folder_job(const std::string& folder) {
  const std::string name = "torchvision.datasets.folder.ImageFolder";
  return {"", {name, name, folder}};
}

Finding finding_of(const std::string& cause, double share) {
  Finding finding;
  finding.cause = cause;
  finding.share = share;
  finding.reasons = {cause};
  return finding;
}

TEST(Leading, IsWhatHasAReasonWhereThatMatters) {
  Diagnosis diagnosis;
  diagnosis.steps.count = 10;
  diagnosis.partition = diagnose::Partition{.launch = 0.12, .other = 0.3};
  diagnosis.edge_other_ratio = 0.2;
  diagnosis.findings = {finding_of("other", 0.3), finding_of("launch", 0.12)};
  Advice advice = advise_on(diagnosis);
  EXPECT_EQ(advice.leading_finding, 1U);
  const std::string& verdict = advice.verdict;
  EXPECT_TRUE(contains(verdict, "idle 12 % of the time because the host launches")) << verdict;
  EXPECT_TRUE(contains(verdict, "For 30 % of the time it is idle for a reason that")) << verdict;
  EXPECT_TRUE(contains(verdict, "20 % before the first or after the last GPU operation"));

  diagnosis.findings = {finding_of("other", 0.3), finding_of("launch", 0.02)};
  advice = advise_on(diagnosis);
  EXPECT_EQ(advice.leading_finding, 0U);
  EXPECT_FALSE(advice.leading_remedy) << "nothing is done about what nobody knows";
  EXPECT_FALSE(advice.next_remedy) << "nor is 2 % worth a change";
  EXPECT_FALSE(advise_on(Diagnosis()).leading_finding);
  EXPECT_FALSE(advise_on(Diagnosis()).next_remedy);
}

TEST(Leading, OfCausesAboutAsLargeTheOneWithMoreToGainLeads) {
  Diagnosis diagnosis;
  diagnosis.steps.count = 20;
  diagnosis.partition = diagnose::Partition{.input_wait = 0.42, .launch = 0.46};
  diagnosis.signals.num_workers = 4;
  diagnosis.signals.launches_per_step = 600;
  diagnosis.findings = {finding_of("launch", 0.46), finding_of("input_wait", 0.42)};
  diagnosis.findings[0].reasons = {"launch", "launch_bound"};
  diagnosis.findings[1].reasons = {"input_wait", "loader_startup"};
  const predict::Speedup little = {1.28, 1.17, 1.41};
  const predict::Speedup much = {1.73, 1.66, 1.78};
  const auto leads = [&diagnosis](const std::map<std::string, predict::Speedup>& gains) {
    return advise_on(diagnosis, {}, gains).leading_finding;
  };
  EXPECT_EQ(leads({{"cuda_graphs_or_compile", little}, {"persistent_workers", much}}), 1U);
  const std::string verdict =
      advise_on(diagnosis, {}, {{"cuda_graphs_or_compile", little}, {"persistent_workers", much}})
          .verdict;
  EXPECT_TRUE(contains(verdict, "idle 42 % of the time because the training thread waits"));
  EXPECT_FALSE(contains(verdict, "a reason that the recording does not hold")) << verdict;
  EXPECT_EQ(leads({{"cuda_graphs_or_compile", much}, {"persistent_workers", little}}), 0U);
  EXPECT_EQ(leads({{"persistent_workers", much}}), 0U) << "nobody knows what the other gains";
  diagnosis.findings[1].share = 0.3;
  EXPECT_EQ(leads({{"cuda_graphs_or_compile", little}, {"persistent_workers", much}}), 0U);
}

TEST(Verdict, SaysTheLineAndWhatToDoThere) {
  Diagnosis diagnosis;
  diagnosis.steps.count = 10;
  diagnosis.partition = diagnose::Partition{.launch = 0.5};
  diagnosis.findings = {finding_of("launch", 0.5)};
  diagnosis.findings[0].code = {
      {{"train.py:57", "own.get()", "waiting for its own queue", 0.7, 70}}, 100};
  const Advice advice = advise_on(diagnosis);
  const std::string line = "at train.py:57 (`own.get()`, waiting for its own queue)";
  EXPECT_TRUE(contains(advice.verdict, "too late, mostly " + line)) << advice.verdict;
  ASSERT_TRUE(advice.leading_remedy);
  EXPECT_EQ(advice.leading_remedy->id, "move_host_work");
  EXPECT_TRUE(contains(advice.leading_remedy->how, line)) << advice.leading_remedy->how;

  diagnosis.findings[0].code.parts[0].share = 0.2;
  EXPECT_FALSE(contains(advise_on(diagnosis).verdict, "train.py"));
}

TEST(Verdict, ALineIsShownAsItWaitsForNothing) {
  Diagnosis diagnosis;
  diagnosis.steps.count = 10;
  diagnosis.partition = diagnose::Partition{.sync = 0.5};
  diagnosis.signals.syncs_per_step = 1.0;
  diagnosis.findings = {finding_of("sync", 0.5)};
  diagnosis.findings[0].code = {{{"train.py:57", "loss.item()", "reading a result", 0.7, 70}}, 100};
  const auto advised = [&diagnosis] { return *advise_on(diagnosis).leading_remedy; };
  ASSERT_EQ(advised().id, "remove_sync");
  EXPECT_TRUE(contains(advised().how, "or do it every 100 steps")) << advised().how;
  EXPECT_EQ(advised().edit + advised().beside_edit, "") << "it is not known how";
  std::string& edit = diagnosis.findings[0].code.parts[0].without_wait;
  edit = "- sum += loss.item()\n+ sum += loss.detach().double()";
  EXPECT_EQ(advised().edit, edit);
  EXPECT_TRUE(contains(advised().how, "Keep the value of train.py:57 (`loss.item()`"));
  EXPECT_TRUE(contains(advised().beside_edit, "read it with `.item()` after the loop"));

  edit = "- loss.item()";
  EXPECT_EQ(advised().edit, edit);
  EXPECT_TRUE(contains(advised().how, "Leave out train.py:57 (`loss.item()`"));
  EXPECT_TRUE(contains(advised().beside_edit, "Nothing uses"));

  diagnosis.findings[0].code.parts[0].share = 0.4;
  EXPECT_EQ(advised().edit, "") << "most of the time goes elsewhere";
}

TEST(Verdict, DataThatTheTrainingThreadMakesIsToBeMadeBeforehand) {
  Diagnosis diagnosis;
  diagnosis.steps.count = 10;
  diagnosis.partition = diagnose::Partition{.launch = 0.5};
  diagnosis.findings = {finding_of("launch", 0.5)};
  diagnosis.findings[0].code = {{{"train.py:68", "tokenizer.encode(chunk)", "tokenizing", 0.7, 70}},
                                100};
  const Advice advice = advise_on(diagnosis);
  ASSERT_TRUE(advice.leading_remedy);
  EXPECT_TRUE(contains(advice.leading_remedy->how, "do it once, beforehand"));
  diagnosis.findings[0].code.parts[0].what = "a database query";
  EXPECT_FALSE(contains(advise_on(diagnosis).leading_remedy->how, "beforehand"));
}

/// Many short kernels, and the host late with each.
Diagnosis launching_late() {
  Diagnosis diagnosis;
  diagnosis.steps.count = 10;
  diagnosis.partition = diagnose::Partition{.launch = 0.5};
  diagnosis.signals.launch_ratio = 0.5;
  diagnosis.signals.long_launch_gap_ratio = 0.4;
  diagnosis.signals.kernel_ns_median = 8e3;
  diagnosis.signals.launches_per_step = 600;
  diagnosis.findings = {finding_of("launch", 0.5)};
  diagnosis.findings[0].detail = "launch_bound";
  diagnosis.findings[0].reasons = {"launch", "launch_bound", "host_work"};
  return diagnosis;
}

TEST(Verdict, WhatSomebodyHasToFindFirstIsNotNamedInsteadOfWhatIsKnown) {
  Diagnosis diagnosis = launching_late();
  const std::map<std::string, predict::Speedup> gains = {
      {"cuda_graphs_or_compile", {1.3, 1.2, 1.4}}, {"move_host_work", {2.0, 1.5, 2.5}}};
  EXPECT_EQ(advise_on(diagnosis, {}, gains).leading_remedy->id, "cuda_graphs_or_compile");
  diagnosis.findings[0].code = {{{"train.py:57", "own.get()", "", 0.7, 70}}, 100};
  EXPECT_EQ(advise_on(diagnosis, {}, gains).leading_remedy->id, "move_host_work");
}

TEST(Verdict, ALateRankThatDoesNotLeadHasNoReasonOfAnotherCause) {
  Diagnosis diagnosis;
  diagnosis.steps.count = 10;
  diagnosis.partition = diagnose::Partition{.launch = 0.5};
  diagnosis.findings = {finding_of("launch", 0.5), finding_of("input_wait", 0.1)};
  diagnosis.findings[0].detail = "launch_bound";
  diagnosis.ranks.rows.resize(2);
  diagnose::Straggler late;
  late.row = 1;
  late.late_ratio = 0.07;
  late.because = "input_wait";
  diagnosis.ranks.straggler = late;
  const std::string verdict = advise_on(diagnosis).verdict;
  EXPECT_TRUE(contains(verdict, "because it waits for its data loader;")) << verdict;
}

TEST(Verdict, SaysEmulatedAndWhere) {
  trace::Timeline timeline = starving_run(5, 60, 40);
  trace::DeviceInfo device;
  device.name = "A100";
  device.emulated = true;
  timeline.devices.push_back(device);
  const std::string verdict =
      advise_on(diagnose::diagnose(timeline, {}), {"train.py:41", {}}).verdict;
  EXPECT_TRUE(contains(verdict, "The emulated GPU is idle")) << verdict;
  EXPECT_TRUE(contains(verdict, "train.py:41")) << verdict;
}

TEST(Verdict, SaysWhyNothingCanBeSaid) {
  const std::string none = advise_on(diagnose::diagnose(trace::Timeline{}, {})).verdict;
  EXPECT_TRUE(contains(none, "No GPU activity is recorded")) << none;
  trace::Timeline timeline = starving_run(20, 60, 40);
  timeline.steps.clear();
  const std::string stepless = advise_on(diagnose::diagnose(timeline, {})).verdict;
  EXPECT_TRUE(contains(stepless, "no step boundary is recorded")) << stepless;
}

TEST(Advice, NamesARemedyThatTakesMoreOnlyForAClearGain) {
  const Diagnosis found = diagnose::diagnose(starving_run(5, 60, 40), {});
  Advice advice =
      advise_on(found, folder_job("/i"),
                {{"unstarve_loader", {2.0, 1.9, 2.1}}, {"unstarve_shards", {2.05, 2.0, 2.1}}});
  EXPECT_TRUE(contains(advice.verdict, "mport DataLoader from unstarve")) << advice.verdict;
  EXPECT_EQ(advice.next_remedy->id, "unstarve_loader");
  EXPECT_EQ((*advice.find("unstarve_loader")->predicted).speedup, 2.0);
  EXPECT_FALSE(advice.find("unstarve_cache")->predicted);
  advice = advise_on(found, folder_job("/i"),
                     {{"unstarve_loader", {2.0, 1.9, 2.1}}, {"unstarve_shards", {2.4, 2.3, 2.5}}});
  EXPECT_TRUE(contains(advice.verdict, "unstarve pack /i /i-shards")) << advice.verdict;
  EXPECT_EQ(advice.next_remedy->id, "unstarve_shards") << "no two sentences name different fixes";
}

std::vector<Remedy> offered_for_waits(const diagnose::Signals& signals, const JobFacts& job) {
  return offers({signals, job}, {"input_wait"});
}

TEST(Advice, AFolderOfImagesIsOneWordOfTheCommandThatIsAdvised) {
  const std::string how = offered_for_waits({}, folder_job("/my data/it's")).back().how;
  EXPECT_TRUE(contains(how, R"(unstarve pack '/my data/it'\''s' '/my data/it'\''s-shards'`)"))
      << how;
}

TEST(Advice, ACacheIsAdvisedBetweenLoaderAndShards) {
  diagnose::Signals signals;
  EXPECT_EQ(offered_for_waits(signals, {}).size(), 1U) << "nobody knows what data it is";
  std::vector<Remedy> advised = offered_for_waits(signals, folder_job("/i"));
  ASSERT_EQ(advised.size(), 3U);
  EXPECT_EQ(advised[1].id, "unstarve_cache");
  EXPECT_TRUE(contains(advised[1].how, "With unstarve's DataLoader: set UNSTARVE_CACHE_DIR"));
  EXPECT_TRUE(contains(advised[1].how, "from the second on"));
  signals.loader_threads = 2;  // it is unstarve's
  advised = offered_for_waits(signals, folder_job("/i"));
  ASSERT_EQ(advised.size(), 2U);
  EXPECT_TRUE(contains(advised[0].how, "Unless the loader has a cache already: set"));
}

Remedy find_offered(const diagnose::Signals& signals, const JobFacts& job, const char* id) {
  for (const Remedy& remedy : offered_for_waits(signals, job)) {
    if (remedy.id == id) return remedy;
  }
  ADD_FAILURE() << id << " is not offered";
  return {};
}

/// A job of two workers on two CPUs whose fetches take four steps, most of it waiting.
diagnose::Signals waiting_for_storage() {
  diagnose::Signals signals;
  signals.num_workers = 2;
  signals.effective_cpus = 2;
  signals.cpu_use_ratio = 0.2;
  signals.step_ns_median = 320e6;
  signals.wait_ns_median = 240e6;
  signals.fetch_ns_median = 640e6;
  signals.fetch_cpu_ratio = 0.05;
  signals.fetch_in_files_ratio = 0.9;
  return signals;
}

TEST(Advice, WorkersBeyondTheCpusAreForFetchesThatWaitForStorage) {
  diagnose::Signals signals = waiting_for_storage();
  Remedy workers = offered_for_waits(signals, {}).front();
  ASSERT_EQ(workers.id, "more_workers");
  EXPECT_EQ(workers.values["num_workers"], 8) << "640 ms of a fetch in each 80 ms of the rest";
  EXPECT_EQ(workers.values["prefetch_factor"], 2);
  EXPECT_TRUE(contains(workers.how,
                       "more than the 2 CPUs of this job, since a worker is off the "
                       "CPU for 95 % of its time"))
      << workers.how;
  EXPECT_TRUE(contains(find_entry("more_workers")->apply(workers)->environment()[0].second,
                       R"("beyond_cpus": true)"));

  signals.fetch_ns_median = 64e9;
  EXPECT_EQ(offered_for_waits(signals, {}).front().values["num_workers"], 32);
  signals.fetch_cpu_ratio = 0.25;  // eight of them keep two CPUs busy
  EXPECT_EQ(offered_for_waits(signals, {}).front().values["num_workers"], 8);
  signals.h2d_bytes_per_step = 100e6;
  signals.memory_available_bytes = 6e9;  // each of them holds three batches
  EXPECT_EQ(offered_for_waits(signals, {}).front().values["num_workers"], 5);
  signals = waiting_for_storage();
  signals.fetch_in_files_ratio = 0.1;  // it waits for something else
  EXPECT_NE(offered_for_waits(signals, {}).front().id, "more_workers");
}

TEST(Advice, AStreamThatDoesNotDivideItselfGetsNoMoreThanOneWorker) {
  diagnose::Signals signals = waiting_for_storage();
  JobFacts job;
  job.data.is_stream = true;
  const auto ids = [&] {
    std::vector<std::string> found;
    for (const Remedy& remedy : offered_for_waits(signals, job)) found.push_back(remedy.id);
    return found;
  };
  const auto is_offered = [&](const char* id) {
    const std::vector<std::string> found = ids();
    return std::find(found.begin(), found.end(), id) != found.end();
  };
  EXPECT_FALSE(is_offered("more_workers")) << "two workers, and perhaps each sample twice";
  EXPECT_TRUE(is_offered("divided_stream"));
  job.data.workers_repeat = true;
  EXPECT_FALSE(is_offered("more_workers"));
  EXPECT_TRUE(contains(find_offered(signals, job, "divided_stream").how, "give the same samples"));
  job.data.workers_repeat = false;
  EXPECT_TRUE(is_offered("more_workers")) << "it divides itself";
  EXPECT_FALSE(is_offered("divided_stream"));

  job.data.workers_repeat = {};
  signals.num_workers = 0;
  EXPECT_EQ(find_offered(signals, job, "more_workers").values["num_workers"], 1);
  const Remedy divided = find_offered(signals, job, "divided_stream");
  EXPECT_GT(divided.values.at("num_workers"), 1);
  EXPECT_TRUE(contains(divided.edit, "get_worker_info"));
}

TEST(Advice, WorkersBeyondTheCpusAreOfferedOnlyWhereTheyAreSureToGain) {
  Diagnosis found = diagnose::diagnose(starving_run(5, 60, 40), {});
  found.signals = waiting_for_storage();
  const auto offered = [&found](const predict::Speedup& gain) {
    return advise_on(found, {}, {{"more_workers", gain}}).find("more_workers") != nullptr;
  };
  EXPECT_TRUE(offered({2.5, 1.4, 3.0}));
  EXPECT_FALSE(offered({1.1, 0.97, 1.3}));
}

TEST(Advice, NothingIsAdvisedThatIsNotSureToGain) {
  const Diagnosis found = diagnose::diagnose(starving_run(5, 60, 40), {});
  const Advice advice =
      advise_on(found, folder_job("/i"),
                {{"more_workers", {1.3, 0.99, 1.6}}, {"unstarve_loader", {2.0, 1.9, 2.1}}});
  EXPECT_FALSE(advice.find("more_workers"));
  ASSERT_TRUE(advice.find("unstarve_loader"));
  EXPECT_EQ(advice.next_remedy->id, "unstarve_loader");
}

TEST(Advice, NothingLeadsThatGainsTooLittle) {
  const Diagnosis found = diagnose::diagnose(starving_run(5, 60, 40), {});
  const auto leads = [&found](double speedup) {
    const auto next = advise_on(found, folder_job("/i"),
                                {{"more_workers", {speedup, 1.005, 1.6}},
                                 {"unstarve_loader", {1.01, 1.005, 1.02}},
                                 {"unstarve_shards", {1.01, 1.005, 1.02}}})
                          .next_remedy;
    return next && next->id == "more_workers";
  };
  EXPECT_TRUE(leads(1.1));
  EXPECT_FALSE(leads(1.01));
}

TEST(Advice, WhatIsLikelierToGainThanNotIsWorthATrial) {
  const Diagnosis found = diagnose::diagnose(starving_run(5, 60, 40), {});
  const auto advice_of = [&found](const predict::Speedup& gain) {
    return advise_on(found, {}, {{"more_workers", gain}});
  };
  const Advice likely = advice_of({1.3, 0.99, 1.6});
  EXPECT_FALSE(likely.find("more_workers"));
  ASSERT_TRUE(likely.find_worth_a_trial("more_workers"));
  EXPECT_EQ(likely.most_worth_a_trial(), likely.find_worth_a_trial("more_workers"));

  const Advice unlikely = advice_of({0.9, 0.7, 1.2});
  EXPECT_FALSE(unlikely.find_worth_a_trial("more_workers"));
  EXPECT_TRUE(unlikely.find_offered("more_workers")) << "its prediction can be held to a trial";
  EXPECT_FALSE(unlikely.most_worth_a_trial());

  const Advice sure = advice_of({1.3, 1.1, 1.6});
  EXPECT_TRUE(sure.find("more_workers"));
  EXPECT_FALSE(sure.find_worth_a_trial("more_workers")) << "it is advised";
}

TEST(Advice, ALittleWaitingIsNotWorthARemedy) {
  const auto offered = [](std::int64_t wait_ms) {
    const Diagnosis found = diagnose::diagnose(starving_run(20, wait_ms, 100 - wait_ms), {});
    EXPECT_EQ(found.findings.at(found.findings.size() - 1).cause, "input_wait");
    const Advice advice = advise_on(found, folder_job("/i"));
    EXPECT_FALSE(contains(advice.verdict, "mport DataLoader") && wait_ms < 5) << advice.verdict;
    return advice.find("unstarve_loader") != nullptr;
  };
  EXPECT_FALSE(offered(3));
  EXPECT_TRUE(offered(8));
}

TEST(Advice, NeighboursAreSaidOnceBesideTheJobsOwnCause) {
  diagnose::HostSignals host;
  host.effective_cpus = 2;
  host.job_cpu_cores = 0.8;
  host.host_cpu_cores = 2;
  host.cpu_waiting_threads = 0.6;
  const Diagnosis found = diagnose::diagnose(starving_run(5, 60, 40), host);
  ASSERT_EQ(found.conditions.size(), 1U);
  EXPECT_EQ(found.conditions.at(0).rule, "busy_neighbour");
  EXPECT_EQ(found.findings.at(0).cause, "input_wait");
  const Advice advice = advise_on(found, folder_job("/i"), {{"unstarve_loader", {2.0, 1.9, 2.1}}});
  ASSERT_TRUE(advice.leading_remedy);
  EXPECT_EQ(advice.leading_remedy->id, "unstarve_loader");
  EXPECT_TRUE(contains(advice.condition, "Other processes use 1.2 of the 2 CPUs"));
  EXPECT_TRUE(contains(advice.verdict, advice.condition)) << advice.verdict;
  EXPECT_FALSE(contains(advice.cause, "ther processes")) << advice.cause;
}

TEST(Advice, WordsOfImagesAreForImages) {
  diagnose::Signals signals;
  const auto words = [&signals](std::string_view rule) {
    const JobFacts job;
    std::string text;
    for (const Remedy& remedy : offers({signals, job}, {std::string(rule)})) text += remedy.how;
    return text;
  };
  for (const std::string_view rule : {"python_transform", "collate_ipc"}) {
    signals.decode_ratio = 0.2;
    EXPECT_TRUE(contains(words(rule), "uint8")) << words(rule);
    signals.decode_ratio = WhyAbsent::kNotObserved;
    EXPECT_FALSE(words(rule).empty());
    EXPECT_FALSE(contains(words(rule), "uint8")) << words(rule);
  }
}

TEST(Advice, BothLoadersAreNamedWhereBothHoldTheJobUp) {
  JobFacts job;
  job.loader_place = "main.py:290";
  job.other_place = "main.py:310";
  job.other_share = 0.1;
  EXPECT_EQ(which_loaders(job), " at main.py:290");
  job.other_share = 0.54;
  EXPECT_EQ(which_loaders(job),
            " at main.py:290, and for 54 % of that for the evaluation's at main.py:310");
  job.evaluates = true;
  EXPECT_EQ(which_loaders(job),
            " of the evaluation at main.py:290, and for 54 % of that for the "
            "training's at main.py:310");
}

TEST(Advice, ACacheLeadsOnlyWhereTheJobComesBackToItsData) {
  const Diagnosis found = diagnose::diagnose(starving_run(5, 60, 40), {});
  JobFacts job = folder_job("/i");
  const std::map<std::string, predict::Speedup> gains = {{"unstarve_loader", {2.0, 1.9, 2.1}},
                                                         {"unstarve_cache", {3.0, 2.8, 3.2}}};
  job.passes = 1;
  EXPECT_EQ(advise_on(found, job, gains).next_remedy->id, "unstarve_loader");
  EXPECT_TRUE(advise_on(found, job, gains).find("unstarve_cache")) << "it is offered all the same";
  job.passes = 2;
  EXPECT_EQ(advise_on(found, job, gains).next_remedy->id, "unstarve_cache");
}

TEST(Advice, OurLoaderIsForDataThatItCanRead) {
  const auto offered = [](const trace::DataSet& data) {
    return offered_for_waits({}, {"", data}).size();
  };
  const std::string subset = "torch.utils.data.dataset.Subset";
  for (const char* files :
       {"torchvision.datasets.folder.ImageFolder", "torchvision.datasets.folder.DatasetFolder",
        "torchvision.datasets.imagenet.ImageNet"}) {
    EXPECT_EQ(offered({files, files, "/i"}), 3U) << files;
    // Shards of the folder would hold more than the subset.
    EXPECT_EQ(offered({subset, files, "/i"}), 2U) << files;
  }
  EXPECT_EQ(offered({"train.Mine", "train.Mine", "/i"}), 0U);
  EXPECT_EQ(offered({subset, "train.Mine", "/i"}), 0U);
}

TEST(Catalogue, IsWhole) {
  ASSERT_GE(catalogue().size(), 20U);
  for (const CatalogueEntry& entry : catalogue()) {
    EXPECT_EQ(find_entry(entry.id), &entry) << entry.id;
    EXPECT_TRUE(entry.offer) << entry.id;
    EXPECT_TRUE(!entry.model || entry.apply || !entry.why_not_tried.empty()) << entry.id;
  }
  EXPECT_EQ(find_entry("none"), nullptr);
}

TEST(Advice, ALargerBatchLeadsOnlyWhereNothingIsTrained) {
  const Diagnosis found = launching_late();
  const std::map<std::string, predict::Speedup> gains = {
      {"cuda_graphs_or_compile", {1.3, 1.2, 1.4}}, {"larger_batch", {2.0, 1.5, 2.5}}};
  JobFacts job;
  EXPECT_EQ(advise_on(found, job, gains).next_remedy->id, "cuda_graphs_or_compile");
  job.infers = true;
  const Advice advice = advise_on(found, job, gains);
  EXPECT_EQ(advice.next_remedy->id, "larger_batch");
  EXPECT_TRUE(contains(advice.next_remedy->how, "where nothing is trained, results stay"));
}

TEST(Catalogue, OffersARemedyOnceForAllRules) {
  const diagnose::Signals signals;
  const JobFacts job;
  const auto remedies = offers({signals, job}, {"launch", "kernel_wait", "small_batch"});
  std::vector<std::string> ids;
  for (const Remedy& remedy : remedies) ids.push_back(remedy.id);
  EXPECT_EQ(ids,
            (std::vector<std::string>{"move_host_work", "cuda_graphs_or_compile", "larger_batch"}));
}

}  // namespace
}  // namespace unstarve::advise
