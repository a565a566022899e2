# Reads one line of JSON and prints what bin/plugin needs of it as assignments of the shell, each value in single quotes:
#   fault      parse, or nothing
#   t_NAME     the type of a member: s(tring) i(nteger) n(umber) o(bject) a(rray) w(ord), or nothing when it is missing
#   v_NAME     a text, number or word as it was written, x_NAME a text without its escapes
# NAME is `id`, `method` and `jsonrpc`; of params with `p_` before it, of its `_meta` with `m_`, of its `arguments` with `a_`. a_keys has all keys of the arguments, one a line.
# It runs with LC_ALL=C: a character is a byte.

BEGIN {
  max_depth = 128
  largest_text = 8192
  quote = sprintf("%c", 39)
  for (i = 1; i < 256; i++) byte[sprintf("%c", i)] = i
  for (i = 0; i < 16; i++) { digit[substr("0123456789abcdef", i + 1, 1)] = i; digit[substr("0123456789ABCDEF", i + 1, 1)] = i }
  escape["b"] = "\b"; escape["f"] = "\f"; escape["n"] = "\n"; escape["r"] = "\r"; escape["t"] = "\t"
}

NR == 1 {
  line = $0
  size = length(line)
  at = 1
  fault = read_value() ? "" : "parse"
  tell("fault", fault)
  tell_members("", "", "id method jsonrpc params")
  tell_members("params" SUBSEP, "p_", "instanceId protocol host plugin dataDir limits deadlineMs hook_type payload context name arguments cursor protocolVersion _meta")
  tell_members("params" SUBSEP "_meta" SUBSEP, "m_", "io.modelcontextprotocol/protocolVersion io.modelcontextprotocol/clientCapabilities")
  # What your tools take, one word each.
  tell_members("params" SUBSEP "arguments" SUBSEP, "a_", "name")
  tell("a_keys", keys)
}

function tell(name, value,    parts, count, i, out) {
  count = split(value, parts, quote)
  out = parts[1]
  for (i = 2; i <= count; i++) out = out quote "\\" quote quote parts[i]
  if (count == 0) out = ""
  printf "%s=%s%s%s\n", name, quote, out, quote
}

function tell_members(place, before, list,    names, count, i, name, path) {
  count = split(list, names, " ")
  for (i = 1; i <= count; i++) {
    path = place names[i]
    name = names[i]
    sub(/^.*\//, "", name)
    tell("t_" before name, type[path])
    tell("v_" before name, raw[path])
    tell("x_" before name, type[path] == "s" && length(raw[path]) <= largest_text ? decode(raw[path]) : "")
  }
}

# Without recursion: a stack that grows with the input would be the input's to break.
function read_value(    depth, expected, c, start, key, kind) {
  depth = 0
  expected = "value"
  path[0] = ""
  for (;;) {
    while (at <= size && index(" \t\r\n", substr(line, at, 1)) > 0) at++
    c = substr(line, at, 1)
    if (expected == "end") return at > size
    if (c == "") return 0
    if (expected == "key" || expected == "first key") {
      if (c == "}" && expected == "first key") { at++; expected = after(--depth); continue }
      start = at
      if (!read_string()) return 0
      key = substr(line, start, at - start)
      if (path[depth] == "params" SUBSEP "arguments") keys = keys (keys == "" ? "" : "\n") substr(key, 2, length(key) - 2)
      key = decode(key)
      gsub(/[\001-\037]/, "?", key)
      member[depth] = key
      while (at <= size && index(" \t\r\n", substr(line, at, 1)) > 0) at++
      if (substr(line, at, 1) != ":") return 0
      at++
      expected = "value"
      continue
    }
    if (expected == "comma") {
      if (c == ",") { at++; expected = close_of[depth] == "}" ? "key" : "value"; continue }
      if (c != close_of[depth]) return 0
      at++
      expected = after(--depth)
      continue
    }
    if (c == "]" && expected == "first value") { at++; expected = after(--depth); continue }
    place = place_of(depth)
    start = at
    if (c == "{" || c == "[") {
      at++
      if (++depth > max_depth) return 0
      path[depth] = place
      type[place] = c == "{" ? "o" : "a"
      close_of[depth] = c == "{" ? "}" : "]"
      expected = c == "{" ? "first key" : "first value"
      member[depth] = "[]"
      continue
    }
    kind = read_scalar(c)
    if (kind == "") return 0
    type[place] = kind
    raw[place] = substr(line, start, at - start)
    expected = after(depth)
  }
}

function after(depth) { return depth == 0 ? "end" : "comma" }

function place_of(depth) {
  if (depth == 0) return ""
  return path[depth] == "" ? member[depth] : path[depth] SUBSEP member[depth]
}

# The type of what was read; nothing when it is none.
function read_scalar(c,    rest) {
  if (c == "\"") return read_string() ? "s" : ""
  rest = substr(line, at, 64)
  if (match(rest, /^(true|false|null)/)) { at += RLENGTH; return "w" }
  if (match(rest, /^-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][-+]?[0-9]+)?/)) {
    at += RLENGTH
    return substr(rest, 1, RLENGTH) ~ /[.eE]/ ? "n" : "i"
  }
  return ""
}

# Moves behind the string that begins here; whether it is one, in UTF-8 (RFC 3629).
function read_string(    c, code) {
  if (substr(line, at, 1) != "\"") return 0
  at++
  for (;;) {
    c = substr(line, at, 1)
    if (c == "\"") { at++; return 1 }
    code = byte[c]
    if (c == "" || code < 32) return 0
    if (c == "\\") {
      if (substr(line, at, 6) ~ /^\\u[0-9a-fA-F][0-9a-fA-F][0-9a-fA-F][0-9a-fA-F]/) at += 6
      else if (substr(line, at, 2) ~ /^\\["\\\/bfnrt]/) at += 2
      else return 0
    } else if (code < 128) at++
    else if (!skip_character(code)) return 0
  }
}

function skip_character(code,    second, count, i) {
  second = byte[substr(line, at + 1, 1)]
  if (code >= 194 && code <= 223) count = 2
  else if (code >= 224 && code <= 239) count = 3
  else if (code >= 240 && code <= 244) count = 4
  else return 0
  if ((code == 224 && second < 160) || (code == 237 && second > 159) || (code == 240 && second < 144) || (code == 244 && second > 143)) return 0
  for (i = 1; i < count; i++) if (int(byte[substr(line, at + i, 1)] / 64) != 2) return 0
  at += count
  return 1
}

function decode(text,    out, i, c, unit, low) {
  text = substr(text, 2, length(text) - 2)
  while ((i = index(text, "\\")) > 0) {
    out = out substr(text, 1, i - 1)
    c = substr(text, i + 1, 1)
    text = substr(text, i + 2)
    if (c != "u") { out = out (c in escape ? escape[c] : c); continue }
    unit = unit_of(substr(text, 1, 4))
    text = substr(text, 5)
    if (unit >= 55296 && unit <= 56319 && substr(text, 1, 2) == "\\u") {
      low = unit_of(substr(text, 3, 4))
      if (low >= 56320 && low <= 57343) { unit = 65536 + (unit - 55296) * 1024 + low - 56320; text = substr(text, 7) }
    }
    out = out encode(unit)
  }
  return out text
}

function unit_of(digits,    i, unit) {
  for (i = 1; i <= 4; i++) unit = unit * 16 + digit[substr(digits, i, 1)]
  return unit
}

# A NUL, which the shell cannot hold, becomes a replacement character.
function encode(point) {
  if (point == 0) point = 65533
  if (point < 128) return sprintf("%c", point)
  if (point < 2048) return sprintf("%c%c", 192 + int(point / 64), 128 + point % 64)
  if (point < 65536) return sprintf("%c%c%c", 224 + int(point / 4096), 128 + int(point / 64) % 64, 128 + point % 64)
  return sprintf("%c%c%c%c", 240 + int(point / 262144), 128 + int(point / 4096) % 64, 128 + int(point / 64) % 64, 128 + point % 64)
}
