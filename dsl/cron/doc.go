// Package cron reads cron expressions and says when they fire.
//
// It knows text, clocks and zones, and nothing of files and workflows, so that the linter and the scheduler share it.
//
// # Expressions
//
// Five fields, separated by blanks or tabs: minute (0-59), hour (0-23), day of month (1-31), month (1-12 or jan-dec),
// day of week (0-7 or sun-sat; 0 and 7 are both Sunday). A field is a comma-separated list of items; an item is *, a
// value or a range a-b, each with an optional step /n. A value with a step, a/n, runs from a to the end of the field.
// Sunday may end a range: 5-7 and fri-sun are Friday to Sunday. Names may be written in any case. One of @hourly,
// @daily, @midnight, @weekly, @monthly, @yearly and @annually may stand for the five fields. TZ=Zone or CRON_TZ=Zone
// may stand before them.
//
// The fields are turned into bit masks by the parser of github.com/robfig/cron/v3, which sees only text that this
// package has checked and rewritten in plain numbers: alone, it panics on some input and accepts some that means
// nothing. Neither its evaluator nor its runner is used, since it loses ticks around changes of the clock.
//
// # Days
//
// As in Vixie cron (Paul Vixie, 1987, and its descendant ISC cron, see crontab(5)): when day of month and day of week
// are both restricted, a day matches if either field does; when one of them is a star, both must match, which leaves
// the decision to the other. A star with a step, such as */2, counts as a star. Vixie cron looks only at the first
// character of a field; here a list counts as a star wherever in it the star stands, so that the order of a list does
// not change what it means.
//
// # Changes of the clock
//
// These are the rules of ISC cron's main loop, without its limit of three hours.
//
// An expression without a star or step in its minute and hour fields names fixed times of day ([Expr.Fixed]). Such a
// time fires at the first instant at which the clock of the zone has reached it. So a time that a change skips fires
// at the first instant after the gap, also where a whole day is missing; one that a change repeats fires once, the
// first time; and several times of a day that meet at the end of a gap are one.
//
// Every other expression fires whenever the clock shows a matching minute: twice where the clock repeats it, never
// where the clock skips it. Measured in elapsed time, an hourly expression thus goes on hourly over a change of an
// hour. What lies wholly inside a gap, such as */15 2 * * * where 02:00 becomes 03:00, does not fire on that day.
//
// # Limits
//
// Results lie in the years 1 to 9999, which is what RFC 3339 can write. The Gregorian calendar repeats every 400
// years, and within that time every valid date falls on every day of the week, so that [Expr.Satisfiable] can be exact
// without a search.
package cron
