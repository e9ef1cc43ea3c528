package dsl

import (
	"fmt"
	"slices"
	"strings"
)

// foreign maps words that other tools use to the key that means the same here,
// without - and _ and in lower case. A word may mean one thing in a task and
// another in the workflow; the first that the mapping has is suggested.
var foreign = map[string][]string{
	"args":              {"command"},
	"arguments":         {"command"},
	"attempts":          {"max", "retry"},
	"backfill":          {"catchup"},
	"bash":              {"run"},
	"bashcommand":       {"run"},
	"capacity":          {"slots"},
	"cmd":               {"command", "run"},
	"concurrency":       {"max_active", "max_parallel", "pool"},
	"condition":         {"when"},
	"conn":              {"db"},
	"connection":        {"db"},
	"continueon":        {"allow_failure"},
	"continueonerror":   {"allow_failure"},
	"count":             {"max", "runs", "slots"},
	"crontab":           {"cron"},
	"cwd":               {"workdir"},
	"dagid":             {"name"},
	"data":              {"body"},
	"database":          {"db"},
	"days":              {"age"},
	"defaultargs":       {"defaults"},
	"depends":           {"depends_on"},
	"dependencies":      {"depends_on"},
	"desc":              {"description"},
	"dir":               {"workdir"},
	"directory":         {"workdir"},
	"dotenv":            {"env_file"},
	"dsn":               {"db"},
	"enddate":           {"valid_until"},
	"endpoint":          {"url"},
	"enum":              {"choices"},
	"environment":       {"env"},
	"envvars":           {"env"},
	"events":            {"on"},
	"executiontimeout":  {"timeout"},
	"expression":        {"cron"},
	"handleron":         {"on_failure"},
	"help":              {"description"},
	"if":                {"when", "if"},
	"ignoreerrors":      {"allow_failure"},
	"ignorefailure":     {"allow_failure"},
	"inputs":            {"params"},
	"interval":          {"poll", "delay", "every"},
	"jobs":              {"tasks"},
	"keep":              {"runs"},
	"limit":             {"slots", "max"},
	"list":              {"items"},
	"loop":              {"foreach"},
	"matrix":            {"foreach"},
	"maxactiveruns":     {"max_active"},
	"maxactivesteps":    {"max_parallel"},
	"maxactivetasks":    {"max_parallel"},
	"maxage":            {"age"},
	"maxattempts":       {"max"},
	"maximum":           {"max"},
	"maxretries":        {"retry", "max"},
	"maxretrydelay":     {"max_delay"},
	"minimum":           {"min"},
	"needs":             {"depends_on"},
	"on":                {"cron"},
	"onerror":           {"on_failure"},
	"onexit":            {"on_finish"},
	"onfailurecallback": {"on_failure"},
	"onsuccesscallback": {"on_success"},
	"options":           {"choices"},
	"output":            {"save"},
	"parallel":          {"foreach", "max_parallel"},
	"path":              {"file"},
	"payload":           {"body"},
	"pollinterval":      {"poll"},
	"precondition":      {"when"},
	"preconditions":     {"when"},
	"pythoncallable":    {"call"},
	"regex":             {"pattern"},
	"requires":          {"depends_on"},
	"retries":           {"retry", "max"},
	"retry":             {"retry", "max"},
	"retrydelay":        {"delay", "retry"},
	"retryexponential":  {"backoff"},
	"retrypolicy":       {"retry"},
	"runson":            {"runs_on"},
	"schedule":          {"cron"},
	"scheduleinterval":  {"cron", "every"},
	"schedules":         {"cron"},
	"script":            {"run"},
	"size":              {"slots"},
	"sla":               {"expect_within"},
	"startdate":         {"valid_from"},
	"sql":               {"query"},
	"statement":         {"query"},
	"steps":             {"tasks"},
	"strategy":          {"foreach"},
	"timeoutminutes":    {"timeout"},
	"timeoutsec":        {"timeout"},
	"timeoutseconds":    {"timeout"},
	"timeoutmin":        {"timeout"},
	"to":                {"email", "save"},
	"triggerrule":       {"join"},
	"tz":                {"timezone"},
	"upstream":          {"depends_on"},
	"uri":               {"url"},
	"uses":              {"call"},
	"values":            {"choices"},
	"variables":         {"env", "params"},
	"vars":              {"env", "params"},
	"verb":              {"method"},
	"wait":              {"delay", "wait_for"},
	"webhook":           {"url"},
	"withitems":         {"foreach"},
	"workingdir":        {"workdir"},
	"workingdirectory":  {"workdir"},
	"zone":              {"timezone"},
}

// advice is for words whose values have to be written in another way too, and
// for what there is not here.
var advice = map[string]string{
	"steps":          `a task is one step: make a task of each, in order by "depends_on"`,
	"timeoutmin":     `it is called "timeout" here, with a unit: 30m`,
	"timeoutminutes": `it is called "timeout" here, with a unit: 30m`,
	"uses":           `there are no ready-made actions here: write what it does into "run"`,
}

// inOtherTools tells which key of a mapping a word of another tool means, and
// what to do about it; no advice for a word that is not known.
func inOtherTools(name string, names []string) (meant, what string) {
	plain := strings.ToLower(strings.NewReplacer("-", "", "_", "", " ", "").Replace(name))
	for _, word := range foreign[plain] {
		if slices.Contains(names, word) {
			if what = advice[plain]; what == "" || word == "tasks" {
				what = fmt.Sprintf("it is called %q here", word)
			}
			return word, what
		}
	}
	if plain == "steps" && slices.Contains(names, "run") {
		return "run", advice[plain]
	}
	return "", ""
}

// foreignWords maps words that other tools use for a value to those that mean
// the same here.
var foreignWords = map[string][]string{
	"all_done":    {"finished"},
	"all_success": {"all"},
	"always":      {"finished"},
	"boolean":     {"bool"},
	"cancel":      {"replace"},
	"completed":   {"finished"},
	"datetime":    {"date"},
	"day":         {"date"},
	"decimal":     {"float"},
	"done":        {"finished"},
	"double":      {"float"},
	"enum":        {"string"},
	"error":       {"failed"},
	"exp":         {"exponential"},
	"failure":     {"failed"},
	"false":       {"none"},
	"fixed":       {"constant"},
	"forbid":      {"skip"},
	"integer":     {"int"},
	"interval":    {"duration"},
	"number":      {"float", "int"},
	"ok":          {"succeeded"},
	"one_success": {"any"},
	"password":    {"string"},
	"real":        {"float"},
	"restart":     {"rerun"},
	"retry":       {"rerun"},
	"success":     {"succeeded"},
	"text":        {"string"},
	"timedelta":   {"duration"},
	"timestamp":   {"date"},
	"true":        {"all"},
}

// curly are the quotes that word processors make. For YAML they are letters.
const curly = "“”„‟‘’‚‛«»"

// straight is the hint for a text in such quotes, none for any other.
func straight(text string) string {
	if inner := strings.Trim(text, curly); inner != "" && inner != text {
		return fmt.Sprintf(`write straight quotes: "%s"`, clip(inner, 40))
	}
	return ""
}
