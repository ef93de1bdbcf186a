import { formatTable, oneLine, plural, printable, toWire } from '../../../../lib/text/index.ts';
import type { CaseResult, Claim, EvaluationResult, ProposalEvidence, QueryResult } from './types.ts';

export function describeResult(result: EvaluationResult): string {
  const { skillId, totals, triggers, cases, problems } = result;
  const lines = [
    `${skillId}: ${countsOf(totals)}`,
    `  validity  ${validityOf(result)}`,
    ...result.validity.errors.slice(0, MAX_LINES).map((error) => `    failed  ${oneLine(error, 300)}`),
    `  tokens    ${tokensOf(result)}`,
    ...(triggers ? [`  triggers  ${triggersOf(result)}`, ...queriesOf(skillId, triggers.queries)] : []),
    ...(cases.length > 0 ? [`  cases     ${cases.length}`, ...cut(cases.flatMap(linesOfCase))] : []),
    ...problems.map(({ code, message }) => `  ${code}: ${oneLine(message, 400)}`),
  ];
  return printable(lines.join('\n'));
}

export function describeResults(results: readonly EvaluationResult[], width?: number): string {
  const rows = results.map(({ skillId, totals: { passed, failed, notRun }, triggers, tokens }) => [
    skillId,
    ...[passed, failed, notRun],
    ...[share(triggers?.precision), share(triggers?.recall), tokens.l2],
  ]);
  return formatTable(['SKILL', 'PASSED', 'FAILED', 'NOT RUN', 'PRECISION', 'RECALL', 'TOKENS'], rows, width);
}

export function describeClaims(claims: readonly Claim[]): string {
  if (claims.length === 0) return '';
  const texts = claims.map(({ kind, by, at, about, text, summary }) => {
    const what = `${kind === 'grading' ? 'case ' : ''}${oneLine(about, 100)}, ${at.slice(0, 10)}`;
    const counted = summary ? `, ${summary.passed} of ${summary.total} passed` : '';
    return `  ${by} of ${what}${counted}\n${text.replace(/^/gm, '    ').trimEnd()}`;
  });
  return printable(`Claimed by others, and not checked\n${texts.join('\n')}`);
}

export function countsOf({ passed, failed, notRun }: EvaluationResult['totals']): string {
  return `${passed} passed, ${failed} failed, ${notRun} not run`;
}

export function describeRan({ before, after, notRun, changes, takenOver }: ProposalEvidence): string {
  const both = (of: (result: EvaluationResult) => string): string => {
    const [then, now] = [before ? of(before) : 'nothing', after ? of(after) : 'nothing'];
    return then === now ? `${then}, as before` : `${then} -> ${now}`;
  };
  const changed = changes.map(
    ({ query, shouldTrigger, before: then, after: now }) =>
      `    ${JSON.stringify(oneLine(query, 100))}, which should${shouldTrigger ? '' : ' not'} find it: ${then ?? 'nothing'} -> ${now ?? 'nothing'}`,
  );
  const errors = after?.validity.errors.slice(0, MAX_LINES).map((error) => `    failed  ${oneLine(error, 300)}`) ?? [];
  const lines = [
    'Run by the registry, before -> after',
    ...(notRun === null ? [] : [`  not run   ${oneLine(notRun, 300)}`]),
    ...(after
      ? [
          `  checks    ${both(({ totals }) => countsOf(totals))}`,
          `  validity  ${both(validityOf)}`,
          ...errors,
          `  tokens    ${both(tokensOf)}`,
        ]
      : []),
    ...(after && (before?.triggers || after.triggers) ? [`  triggers  ${both(triggersOf)}`, ...cut(changed)] : []),
    ...(takenOver === null ? [] : [`  lines     ${takenOver.text}`]),
    ...((after ?? before)?.problems.map(({ message }) => `  problem   ${oneLine(message, 400)}`) ?? []),
  ];
  return lines.join('\n');
}

/** The same for a model. */
export function factsOfRan({ before, after, notRun, changes, takenOver }: ProposalEvidence): object {
  return {
    before: before && summaryOf(before),
    after: after && summaryOf(after),
    not_run: notRun,
    changed_queries: changes.slice(0, MAX_LINES).map(toWire),
    changed_queries_total: changes.length,
    new_description: takenOver?.text ?? null,
  };
}

// --- internal ---

function summaryOf({ totals, validity, tokens, triggers, problems }: EvaluationResult): object {
  const { passed, failed, notRun } = totals;
  return {
    checks: { passed, failed, not_run: notRun },
    validity,
    tokens,
    triggers: triggers && { precision: triggers.precision, recall: triggers.recall },
    problems: problems.map(({ code, message }) => ({ code, message })),
  };
}

/** Of each kind. */
const MAX_LINES = 20;

function validityOf({ validity: { profile, errors } }: EvaluationResult): string {
  return `${profile}: ${errors.length === 0 ? 'valid' : `${plural(errors.length, 'error')}`}`;
}

function tokensOf({ tokens: { l1, l2 } }: EvaluationResult): string {
  return `${l1 === null ? 'not' : l1} in its line, ${l2} in its body`;
}

function triggersOf({ triggers }: EvaluationResult): string {
  if (!triggers) return 'no queries';
  const left = triggers.notTried > 0 ? `, ${triggers.notTried} not tried` : '';
  const { precision, recall, queries } = triggers;
  const count = queries.length === 1 ? '1 query' : `${queries.length} queries`;
  return `precision ${share(precision)}, recall ${share(recall)}, ${count}${left}`;
}

function queriesOf(skillId: string, queries: readonly QueryResult[]): readonly string[] {
  const failed = queries.filter(({ passed }) => !passed);
  const lines = failed.map(({ query, shouldTrigger, found }) => {
    const other = found === null ? 'nothing' : `${found} first, not ${skillId}`;
    const why = shouldTrigger ? other : 'it first, and should not';
    return `    failed  ${JSON.stringify(oneLine(query, 100))} finds ${why}`;
  });
  return cut(lines);
}

function linesOfCase({ id, assertions, notRun, reason }: CaseResult): readonly string[] {
  const shown = oneLine(id, 60);
  const failed = assertions.flatMap(({ passed, type, value, evidence }) =>
    passed ? [] : `    failed  ${shown}: ${type} ${JSON.stringify(oneLine(value, 80))}. ${evidence}`,
  );
  if (notRun === 0) return failed;
  return [...failed, `    not run ${shown}: ${notRun}, ${reason ?? 'which a person or a model has to judge'}`];
}

function cut(lines: readonly string[]): readonly string[] {
  const more = lines.length - MAX_LINES;
  return more > 0 ? [...lines.slice(0, MAX_LINES), `    and ${more} more; --json has all`] : lines;
}

function share(value: number | null | undefined): string {
  return value === null || value === undefined ? '-' : value.toFixed(2);
}
