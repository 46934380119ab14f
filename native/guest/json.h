// JSON objects of numbers and texts.
#pragma once
#include <cmath>
#include <cstdio>
#include <string>
#include <vector>

namespace opscope::guest {

class Object {
 public:
  // Numbers that are not finite are left out.
  Object& number(const char* name, double value) {
    if (!std::isfinite(value)) return *this;
    char text[32];
    std::snprintf(text, sizeof text, "%.17g", value);
    return member(name, text);
  }
  Object& text(const char* name, const std::string& value) { return member(name, quoted(value)); }
  // Left out where it is empty.
  Object& optional_text(const char* name, const std::string& value) { return value.empty() ? *this : text(name, value); }
  Object& texts(const char* name, const std::vector<std::string>& values) {
    std::string list;
    for (const std::string& value : values) list += (list.empty() ? "" : ",") + quoted(value);
    return member(name, "[" + list + "]");
  }
  std::string done() const { return "{" + members_ + "}"; }

 private:
  Object& member(const char* name, const std::string& json) {
    members_ += (members_.empty() ? "\"" : ",\"") + std::string(name) + "\":" + json;
    return *this;
  }
  static std::string quoted(const std::string& value) {
    std::string out = "\"";
    for (const char c : value) {
      char escaped[8];
      std::snprintf(escaped, sizeof escaped, "\\u%04x", static_cast<unsigned>(static_cast<unsigned char>(c)));
      if (c == '"' || c == '\\') out += '\\';
      if (static_cast<unsigned char>(c) < 0x20) out += escaped;
      else out += c;
    }
    return out + "\"";
  }

  std::string members_;
};

}  // namespace opscope::guest
