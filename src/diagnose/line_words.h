#pragma once

#include <string>

#include "diagnose/diagnosis/diagnosis.h"

namespace unstarve::diagnose {

/// "train.py:57 (`loss.item()`)", "RandAugment (train.py:41)", "decoding images".
std::string code_words(const CodeShare& code);

/// "62 % RandAugment (train.py:41), 20 % decoding images": what stands for enough of the time.
std::string code_list(const CodeTime& time);

/// To stand in a sentence behind a finding's cause: " at train.py:57 (`loss.item()`)", or of
/// `input_wait` "; 62 % of a sample is RandAugment (train.py:41)", of `sync` also what the thread
/// does next, where that makes most of the gap. Empty where no line stands out.
std::string line_words(const Finding& finding);

/// The line that most of a finding's time goes to: "train.py:57 (`loss.item()`)". Empty where none
/// stands out, of `input_wait`, whose time is that of fetches, and of `launch` where the line is
/// the training itself.
std::string line_of(const Finding& finding);

/// That line as it waits for nothing: lines with "-" and "+". Empty where that is not certain.
std::string without_wait_of(const Finding& finding);

/// The known work that this line does, if it makes data: "tokenizing".
std::string work_at_line_of(const Finding& finding);

/// Of the training thread's own work, to stand behind its share: ", 45 % of it at train.py:33
/// (`loss.backward()`)". Empty where no line stands out.
std::string own_line_words(const Diagnosis& diagnosis);

}  // namespace unstarve::diagnose
