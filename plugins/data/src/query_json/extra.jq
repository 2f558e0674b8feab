# What jq 1.8 defines and jaq's library lacks, or defines for a terminal.
def halt_error: error;
def halt_error($code): error;
def input_filename: null;
def input_line_number: 0;
def have_decnum: false;
def have_literal_numbers: true;
def ascii: [.] | implode;
def toarray: if isarray then . else [.] end;
def trimstr($s): ltrimstr($s) | rtrimstr($s);
def leaf_paths: paths(scalars);
def IN(s): any(s == .; .);
def IN(src; s): any(src == s; .);
def INDEX(stream; f): reduce stream as $row ({}; .[$row | f | tostring] = $row);
def INDEX(f): INDEX(.[]; f);
def date: todate;
def dateadd(u; n): . + n;
def datesub(u; n): . - n;
def tostream: path(def r: (.[]? | r), .; r) as $p | getpath($p)
  | reduce path(.[]?) as $q ([$p, .]; [$p + $q]);
def fromstream(f): {x: null, e: false} as $init
  | foreach f as $i ($init;
      if .e then $init end
      | if $i | length == 2
        then setpath(["e"]; $i[0] | length == 0) | setpath(["x"] + $i[0]; $i[1])
        else setpath(["e"]; $i[0] | length == 1) end;
      if .e then .x else empty end);
def truncate_stream(stream): . as $n | null | stream | . as $input
  | if (.[0] | length) > $n then .[0] |= .[$n:] else empty end;
def @csv: [.[] | if isnumber or isboolean then tostring
    elif . == null then ""
    elif isstring then "\"" + (. / "\"" | join("\"\"")) + "\""
    else error("\(type) cannot be a field of a CSV row") end] | join(",");
def @tsv: [.[] | if . == null then ""
    elif isarray or isobject then error("\(type) cannot be a field of a TSV row")
    else tostring | . / "\\" | join("\\\\") | . / "\t" | join("\\t")
      | . / "\n" | join("\\n") | . / "\r" | join("\\r") end] | join("\t");
