-- The first attempt of a task, which is the only one of most, stands in the
-- task's own row: state, reason, error, log, exit code, warnings and the two
-- times as a JSON list. '' and NULL where it stands in attempts, as all others do.
ALTER TABLE tasks ADD COLUMN first_attempt TEXT;
