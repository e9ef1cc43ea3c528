-- Times are microseconds since 1970 in UTC, NULL where there is none. Maps and
-- lists are JSON, NULL where empty. States are the names of package machine.

CREATE TABLE versions (
  hash       TEXT PRIMARY KEY,
  workflow   TEXT NOT NULL,
  text       BLOB,
  tasks      TEXT,
  created_at INTEGER
) STRICT;

-- n is the run's name inside this file: what belongs to a run refers to it by a
-- few bytes, which keeps the indexes of the tables below small.
CREATE TABLE runs (
  n             INTEGER PRIMARY KEY,
  id            TEXT NOT NULL UNIQUE,
  workflow      TEXT NOT NULL,
  file          TEXT NOT NULL,
  version       TEXT NOT NULL,
  state         TEXT NOT NULL,
  reason        TEXT NOT NULL,
  error         TEXT NOT NULL,
  "trigger"     TEXT NOT NULL,
  key           TEXT NOT NULL,
  params        TEXT,
  only          TEXT,
  priority      INTEGER NOT NULL,
  grp           TEXT NOT NULL,
  group_max     INTEGER NOT NULL,
  owner         TEXT NOT NULL,
  scheduled_for INTEGER,
  interval_from INTEGER,
  interval_to   INTEGER,
  not_before    INTEGER,
  turn          INTEGER,
  created_at    INTEGER,
  started_at    INTEGER,
  finished_at   INTEGER
) STRICT;

CREATE UNIQUE INDEX runs_by_key ON runs (workflow, key) WHERE key <> '';
-- Lists are merged from one range of an index for each state, so these two
-- serve every filter, and the unfinished runs as well.
CREATE INDEX runs_by_state ON runs (state, id);
CREATE INDEX runs_by_workflow ON runs (workflow, state, id);
-- What waits is found in the order in which it starts.
CREATE INDEX runs_scheduled ON runs (not_before, id) WHERE state = 'scheduled';
CREATE INDEX runs_queued ON runs (workflow, turn, id) WHERE state = 'queued';

-- One row for the events that came in one batch; last is the number of the last
-- of them, so that the greatest is the number of the run's events. The rows of
-- events, tasks and attempts stand in the order of writing, not by run: many
-- live runs then share the pages that a transaction has to write.
CREATE TABLE events (
  run  INTEGER NOT NULL,
  last INTEGER NOT NULL,
  data BLOB NOT NULL,
  UNIQUE (run, last)
) STRICT;

CREATE TABLE tasks (
  run         INTEGER NOT NULL,
  idx         INTEGER NOT NULL,
  instance    INTEGER NOT NULL,
  id          TEXT NOT NULL,
  state       TEXT NOT NULL,
  reason      TEXT NOT NULL,
  attempts    INTEGER NOT NULL,
  exit_code   INTEGER,
  error       TEXT NOT NULL,
  started_at  INTEGER,
  finished_at INTEGER,
  outputs     TEXT,
  UNIQUE (run, idx, instance)
) STRICT;

CREATE TABLE attempts (
  run         INTEGER NOT NULL,
  idx         INTEGER NOT NULL,
  instance    INTEGER NOT NULL,
  number      INTEGER NOT NULL,
  state       TEXT NOT NULL,
  reason      TEXT NOT NULL,
  exit_code   INTEGER,
  error       TEXT NOT NULL,
  warnings    TEXT,
  log         TEXT NOT NULL,
  started_at  INTEGER,
  finished_at INTEGER,
  UNIQUE (run, idx, instance, number)
) STRICT;

CREATE TABLE ticks (
  workflow TEXT NOT NULL,
  at       INTEGER NOT NULL,
  schedule TEXT NOT NULL,
  outcome  TEXT NOT NULL,
  reason   TEXT NOT NULL,
  run_id   TEXT NOT NULL,
  PRIMARY KEY (workflow, at, schedule)
) STRICT, WITHOUT ROWID;
CREATE INDEX ticks_by_schedule ON ticks (workflow, schedule, at);
