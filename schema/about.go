package schema

// About gives the sentences about a key that editors show: of a mapping by its
// name in dsl.Keys, "" where there is no such key.
func About(mapping, key string) string {
	if texts, ok := about[mapping]; ok {
		return texts[key]
	}
	return ""
}

const aboutX = "Ignored: a place for YAML anchors that tasks share."

var about = map[string]map[string]string{
	"the workflow": aboutWorkflow,
	"a task":       aboutTask,
	`"defaults"`: {
		"timeout":  "How long one attempt of a task may take, such as 10m.",
		"retry":    "How often a task that failed is tried again.",
		"shell":    "What runs the scripts of tasks: sh (the default), bash, python3, or a program with its arguments.",
		"workdir":  "The folder in which tasks run. Default: that of this file.",
		"env":      "Environment of every task, below the task's own.",
		"pool":     "The pool in which every attempt takes a slot.",
		"runs_on":  "Which workers may take the tasks, when work is spread over machines.",
		"recovery": "What happens to an attempt that a crash cut off: rerun (the default) or fail.",
	},
	`"retry"`: {
		"max":        "Further attempts after the first: 3 is four in all.",
		"delay":      "The pause before the first further attempt. Default: 1s.",
		"backoff":    "How the pause grows: exponential (doubling, the default), linear, or constant.",
		"max_delay":  "The longest pause. Default: 1m.",
		"jitter":     "Up to this much is added to each pause. Default: 0.",
		"exit_codes": "Only a failure with one of these exit codes is worth another attempt.",
		"if":         "Only a failure for which this expression is true is worth another attempt.",
	},
	`"pool"`: {
		"name":  "The name of the pool, shared by all workflows.",
		"slots": "How many attempts may hold a slot at a time. One makes it a lock. Default: what ax.yaml says, else 1.",
		"busy":  "What a task does where no slot is free: wait (the default), or skip.",
	},
	`"foreach"`: {
		"items":        "A list, or an expression that gives one. Each item is an instance of the task.",
		"max_parallel": "How many instances run at a time.",
	},
	`"sql"`: {
		"db":     "The database: sqlite:PATH or postgres://USER@HOST/NAME.",
		"query":  "The statement or script. An expression in it is a value that is bound.",
		"file":   "The path of a file with the statement or script.",
		"params": "Values of :name in the statements. They are bound, never part of the text.",
		"save":   "The file that the rows are written to: .csv or .json.",
	},
	`"http"`: {
		"url":     "The address, http:// or https://.",
		"method":  "The method. Default: GET, or POST with a body.",
		"headers": "Header fields of the request.",
		"body":    "The body of the request.",
		"expect":  "The status codes that succeed. Default: 200 to 299.",
		"save":    "The file that the body of the answer is written to.",
	},
	`"workflow"`: {
		"name":   "The workflow to run as a child.",
		"params": "Its parameters.",
	},
	`"wait_for"`: {
		"file":  "Wait until this file, or one that fits this pattern, is there.",
		"http":  "Wait until this request succeeds.",
		"sql":   "Wait until this query gives a row that begins with something true.",
		"until": "Wait until this time: 08:30, 2026-01-31, 2026-01-31 08:30, or RFC 3339.",
		"poll":  "The pause between two looks. Default: 30s.",
	},
	`an entry of "cron"`: {
		"cron":     "Five fields, such as \"30 2 * * *\", or @hourly to @yearly.",
		"timezone": "The zone of this schedule, such as Asia/Shanghai.",
		"params":   "The parameters of the runs that this schedule starts.",
	},
	"a parameter": {
		"type":        "string, int, float, bool, date or duration. Default: what the default value looks like, else string.",
		"default":     "The value of a run that is given none.",
		"required":    "A run must be given a value.",
		"choices":     "The values that are allowed.",
		"min":         "The smallest value.",
		"max":         "The largest value.",
		"pattern":     "A regular expression (RE2) that the whole value must match.",
		"description": "What the parameter means.",
	},
	"a secret": {
		"env":  "The variable of the engine's environment that holds the secret.",
		"file": "The path of the file that holds the secret.",
	},
	`"retention"`: {
		"runs": "How many runs are kept.",
		"age":  "How long runs are kept, such as 90d.",
	},
	`"notify"`: {
		"url":    "The address that messages are sent to.",
		"email":  "The address that mails are sent to.",
		"on":     "What is told: failed, recovered (first success after a failure), late, succeeded, broken (the file).",
		"secret": "The secret that signs the messages.",
		"format": "The form of the messages: json (the default), slack or teams.",
	},
}

var aboutWorkflow = map[string]string{
	"name":           "The workflow's name, unique among all files that are loaded. Default: the file's name without its extension.",
	"description":    "What the workflow does, for people.",
	"owner":          "Whom to ask about it, for people.",
	"tags":           "Words to find it by.",
	"cron":           "When the whole workflow runs: five fields such as \"30 2 * * *\", a list of them, or a list of {cron, timezone, params}.",
	"every":          "Runs the whole workflow at a fixed rate, at least 1s, counted from when it was first loaded.",
	"after":          "Starts it when runs of other workflows have ended: a name, a list, or a map of names to succeeded, failed or finished.",
	"timezone":       "The zone of schedules, AX_DATE and date functions, such as Asia/Shanghai. Default: the server's.",
	"valid_from":     "The first day on which schedules fire, such as 2026-01-31.",
	"valid_until":    "The last day on which schedules fire, such as 2026-12-31.",
	"except":         "Days on which schedules do not fire: dates, or files with a date a line.",
	"jitter":         "Each tick is delayed by a share of this that is always the same for this workflow.",
	"catchup":        "Which ticks missed while the engine was down are run: latest (the default), none, all, or merge for one run that stands for them all.",
	"catchup_window": "Missed ticks older than this are dropped. Default: 24h.",
	"max_active":     "How many runs of this workflow go on at a time, 0 for no limit. Default: 1.",
	"overlap":        "What a tick does when max_active runs are going: buffer_one (the default) waits in place of one that waits already, queue waits behind all others, skip is dropped, replace cancels the oldest run.",
	"params":         "Inputs of a run: names with a default, or with {type, default, required, choices, min, max, pattern, description}.",
	"env":            "Environment of every task. Values arrive as they are written.",
	"env_file":       "Files of variables, one NAME=value a line, that are read when a run starts.",
	"secrets":        "Environment of every task from outside of this file, masked wherever text leaves the engine.",
	"defaults":       "What holds for every task that does not say otherwise.",
	"max_parallel":   "How many tasks of a run go on at a time. Default: no limit.",
	"timeout":        "How long a run may take. When it passes, what runs is stopped and the run fails; handlers still run.",
	"priority":       "0 to 9, higher first when slots are short. Default: 5.",
	"on_failure":     "Tasks that are started once all others have ended and the run has failed.",
	"on_success":     "Tasks that are started once all others have ended and the run has succeeded.",
	"on_finish":      "Tasks that are started once all others have ended, however the run did, a cancel included.",
	"retention":      "When old runs and their logs are removed. Default: the server's.",
	"disabled":       "The workflow is checked and can be started by hand, but never starts by itself.",
	"expect_within":  "A run that has not ended this long after its scheduled time is late: it is told, nothing is stopped.",
	"notify":         "Who is told when runs fail, recover, are late or succeed, or when this file is broken.",
	"tasks":          "The tasks by id: what each does and what it waits for.",
}

var aboutTask = map[string]string{
	"run":           "A script, run by `shell` (sh -eu by default). An expression in it arrives as exactly one word.",
	"command":       "A program and its arguments, without a shell.",
	"sql":           "A statement or script for SQLite or PostgreSQL.",
	"http":          "One HTTP request.",
	"workflow":      "A run of another workflow. The task ends as that ends.",
	"wait_for":      "Ends once a condition holds, and takes no worker meanwhile: a file, a request, a query or a time.",
	"call":          "A Go function that the embedding program has registered.",
	"with":          "The parameters of the function of `call`.",
	"depends_on":    "The tasks that this one waits for: an id, a list, or a map of ids to succeeded (the default), failed, skipped, finished, or a list of these.",
	"join":          "Whether all edges of depends_on must hold (the default), or any one is enough.",
	"on_failure":    "Tasks that are started when this one has failed for good.",
	"when":          "An expression, looked at when the upstream tasks have ended. Where it is false, the task is skipped.",
	"retry":         "Further attempts after a failure: how many, or {max, delay, backoff, max_delay, jitter, exit_codes, if}.",
	"timeout":       "How long one attempt may take. Then its whole process tree is stopped, and the attempt has failed.",
	"kill_after":    "How long a process that is to stop gets between SIGTERM and SIGKILL. Default: 10s.",
	"cron":          "Runs this task and everything downstream of it: five fields such as \"30 2 * * *\", a list of them, or a list of {cron, timezone, params}. For tasks without depends_on.",
	"every":         "Runs this task and everything downstream of it at a fixed rate. For tasks without depends_on.",
	"foreach":       "An instance of the task for each item of a list; expressions have `item` and `index`. What is downstream waits for all.",
	"allow_failure": "A failure counts as a success for the run and what depends on this task, and shows as a warning.",
	"success_codes": "The exit codes that mean success. Default: [0].",
	"skip_codes":    "The exit codes that mean that the task was skipped.",
	"env":           "Environment of this task, over that of the workflow. Values arrive as they are written.",
	"workdir":       "The folder in which the task runs. Default: that of this file.",
	"shell":         "What runs the script: sh (sh -eu, the default), bash (bash -euo pipefail), python3, or a program with its arguments.",
	"pool":          "A limit shared by all workflows, such as connections to one database: its name, or {name, slots, busy}.",
	"runs_on":       "Which workers may take the task, when work is spread over machines.",
	"priority":      "0 to 9, higher first when slots are short. Default: the workflow's.",
	"recovery":      "What happens to an attempt that a crash cut off: rerun (the default), or fail for work that must not run twice by itself.",
	"disabled":      "The task is checked and then left out, as if it had succeeded.",
	"description":   "What the task does, for people.",
}
