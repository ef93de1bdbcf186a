/** SQL that adds to a usage.db 180,000 events, nearly as many as are kept, of 1,000 skills, 20 agents and 2,000 threads in the last 150 days. */
export const FULL_USAGE = `
WITH RECURSIVE numbers(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < 180000)
INSERT INTO event (time, kind, skill, digest, agent, thread, source, duration_ms, outcome, tokens)
SELECT
  CAST(unixepoch() AS INTEGER) * 1000 - (180000 - n) * 72000,
  CASE n % 10 WHEN 0 THEN 'failure' WHEN 1 THEN 'refusal' WHEN 2 THEN 'resource' ELSE 'load' END,
  'skill-' || (n * 7919 % 1000), 'sha256:' || n % 3000, 'agent-' || (n % 20), 'thread-' || (n % 2000), 'skills', 0.5,
  CASE n % 10 WHEN 0 THEN 'SKILL_NOT_FOUND' WHEN 1 THEN 'SKILL_OUT_OF_SCOPE' ELSE 'success' END, 100
FROM numbers;`;
