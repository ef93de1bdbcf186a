/** SQL that adds a million events to a usage.db, and their counts: 1,000 skills, 20 agents, 10,000 threads, the last 150 days. */
export const MILLION_EVENTS = `
WITH RECURSIVE numbers(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < 1000000)
INSERT INTO event (time, kind, skill, digest, agent, thread, source, duration_ms, outcome, tokens)
SELECT
  CAST(unixepoch() AS INTEGER) * 1000 - (1000000 - n) * 12960,
  CASE n % 10 WHEN 0 THEN 'failure' WHEN 1 THEN 'resource' ELSE 'load' END,
  'skill-' || (n * 7919 % 1000), 'sha256:' || n % 3000, 'agent-' || (n % 20), 'thread-' || (n % 10000), 'skills', 0.5,
  CASE n % 10 WHEN 0 THEN 'SKILL_NOT_FOUND' ELSE 'success' END, 100
FROM numbers;
INSERT INTO count (day, skill, agent, kind, outcome, count, tokens, last)
SELECT date(time / 1000, 'unixepoch'), skill, agent, kind, outcome, count(*), sum(tokens), max(time)
FROM event WHERE thread LIKE 'thread-%' GROUP BY 1, 2, 3, 4, 5;
UPDATE upkeep SET counted = (SELECT max(id) FROM event);`;
