#include "binding/errors.h"

#include <nanobind/nanobind.h>

namespace nb = nanobind;

namespace unstarve::binding {

void raise(const Error& error) {
  const nb::object make = nb::module_::import_("unstarve.errors").attr("from_code");
  const nb::object exception = make(to_string(error.code), error.message.c_str(), error.os_errno);
  PyErr_SetObject(exception.type().ptr(), exception.ptr());
  throw nb::python_error();
}

}  // namespace unstarve::binding
