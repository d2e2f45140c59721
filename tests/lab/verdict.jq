# Judges one result document: prints {ok, got}. $expect: "VERDICT CHECK [SUBJECT]", $also: ids that may FAIL beside it.
def rank: {fail: 3, unknown: 2, warn: 1}[.verdict] // 0;
def is($pattern): test("^(?:" + $pattern + ")$"; "i");
def about($who): $who == null or any(.hosts[]?; . == $who) or (.subject // "" | contains($who));
def named: [(.verdict | ascii_upcase), .check, .subject, (.hosts // [] | join(","))] | map(select(. // "" != "")) | join(" ");

($expect / " ") as [$verdict, $check, $who]
| [.findings[] | select((.verdict | is($verdict)) and (.check | is($check)) and about($who))] as $found
# An expected FAIL may well leave other things UNKNOWN; where no FAIL was expected, an UNKNOWN is worse.
| ([$found[] | rank] | max // 0) as $rank
| [.findings[] | select(rank >= 2 and rank >= $rank) | select(.check | (is($check) or is($also)) | not)
   | select(rank > $rank or rank == 3)] as $worse
| {ok: ($found != [] and $worse == []),
   got: (($worse[0] // $found[0] // .findings[0]) | if . then named else "no finding" end)}
