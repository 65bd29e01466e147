#pragma once

#include <string>

#include <gtest/gtest.h>

#include "base/error.h"

namespace eg::testing {

/// Runs `body` and expects an Error with this code whose message contains `text`.
template <class Body>
void expect_error(ErrorCode code, const std::string& text, Body&& body) {
  try {
    body();
  } catch (const Error& error) {
    EXPECT_EQ(error_code_name(error.code()), error_code_name(code)) << error.what();
    EXPECT_NE(std::string(error.what()).find(text), std::string::npos)
        << "message: " << error.what() << "\nexpected to contain: " << text;
    return;
  }
  ADD_FAILURE() << "expected an error containing: " << text;
}

}  // namespace eg::testing
