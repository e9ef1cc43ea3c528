-- What targets of `notify` are to be told. Those that wait are found in the
-- order of their next tries.
CREATE TABLE messages (
  id            TEXT PRIMARY KEY,
  workflow      TEXT NOT NULL,
  version       TEXT NOT NULL,
  file          TEXT NOT NULL,
  target        INTEGER NOT NULL,
  event         TEXT NOT NULL,
  run_id        TEXT NOT NULL,
  scheduled_for INTEGER,
  body          BLOB,
  state         TEXT NOT NULL,
  tries         INTEGER NOT NULL,
  error         TEXT NOT NULL,
  created_at    INTEGER,
  next_at       INTEGER
) STRICT;

CREATE INDEX messages_by_state ON messages (state, next_at, id);
