import { CodedError, describeError, isCodedError } from '../lib/errors/index.ts';
import { didYouMean } from '../lib/text/index.ts';

export { CodedError, describeError, isCodedError, withFallback } from '../lib/errors/index.ts';

export function rootNotFound(root: string): CodedError {
  return new CodedError('ROOT_NOT_FOUND', `The root folder ${root} does not exist. Give an existing folder.`, { root });
}

export function kernelStopped(): CodedError {
  return new CodedError('KERNEL_STOPPED', 'The kernel has been shut down; boot a new one.');
}

export function agentNotFound(id: string, known: readonly string[]): CodedError {
  const message = `No agent "${id}".${didYouMean(id, known)} Agents: ${known.join(', ') || 'none'}.`;
  return new CodedError('AGENT_NOT_FOUND', message, { id, known });
}

export function agentUnavailable(id: string, reason: string): CodedError {
  return new CodedError('AGENT_UNAVAILABLE', `Agent "${id}" cannot be called: ${reason}`, { id, reason });
}

/** @param endpoint - Of the model, if known. */
export function agentFailed(id: string, cause: unknown, endpoint?: string): CodedError {
  const why =
    endpoint !== undefined && isUnanswered(cause)
      ? `Nothing answers at ${endpoint}. Start the model's server, or correct MODEL_BASE_URL.`
      : isCodedError(cause)
        ? describeError(cause)
        : `${describeError(cause).replace(/\.$/, '')}. ${ENDPOINT_ADVICE}`;
  return new CodedError('AGENT_FAILED', `Agent "${id}" failed: ${why}`, { id }, cause);
}

export function modelNotConfigured(missing: readonly string[]): CodedError {
  const message = `No model is configured, so agents cannot answer; everything else works. Set MODEL_BASE_URL (an OpenAI-compatible endpoint, for example http://localhost:11434/v1), MODEL_NAME and, if the endpoint needs one, MODEL_API_KEY in the environment or in the .env file of the root folder, which is read when the root is approved. Missing: ${missing.join(', ')}.`;
  return new CodedError('MODEL_NOT_CONFIGURED', message, { missing });
}

/** The SDK would say only "unknown scheme". The value may be a key, set by mistake: agents and logs must not get it. */
export function modelAddressInvalid(): CodedError {
  const message = 'MODEL_BASE_URL is not an http address. Set it to an address such as http://localhost:11434/v1.';
  return new CodedError('MODEL_NOT_CONFIGURED', message);
}

export function extensionNotDeclared(from: string, id: string): CodedError {
  const message = `Extension "${from}" asked for "${id}", which is not in its depends_on. Add it to ${from}'s manifest.yaml.`;
  return new CodedError('EXTENSION_NOT_DECLARED', message, { from, id });
}

/** @param isRunning - True for an agent that is only a manifest. */
export function extensionNotRunning(id: string, isRunning: boolean): CodedError {
  const why = isRunning
    ? 'is an agent without code of its own, so there is no object to get. Call it with context.kernel.invokeAgent.'
    : 'is not running. /extensions says why.';
  return new CodedError('EXTENSION_NOT_RUNNING', `Extension "${id}" ${why}`, { id });
}

/** @param path - Relative to `extensions/`. */
export function extensionProtected(path: string, why: string): CodedError {
  const message = `"extensions/${path}" is not written: ${why}. Write below extensions/<id>/, in the folder of an extension of this root.`;
  return new CodedError('EXTENSION_PROTECTED', message, { path });
}

/** @param instead - The path to write to instead; files there wait for approval. */
export function codeProtected(path: string, instead: string | undefined): CodedError {
  const remedy =
    instead === undefined ? 'Tell the user what you wanted to change.' : `Write "${instead}": a person then decides.`;
  const message = `"${path}" is not written: this path leads to code of an extension, or to data of another root, and such changes take effect only after a person has approved them. ${remedy}`;
  return new CodedError('EXTENSION_PROTECTED', message, { path });
}

export function extensionNotHeld(name: string, waiting: readonly { name: string }[]): CodedError {
  const known = waiting.map((one) => one.name);
  const others = known.length > 0 ? `; waiting: ${known.join(', ')}` : '';
  const message = `Nothing that an agent wrote waits for the extension "${name}"${others}. To see all extensions: skill-registry approvals list.`;
  return new CodedError('EXTENSION_NOT_HELD', message, { name, known });
}

export function extensionChanged(
  name: string,
  why: string,
  advice: string = `Look at it again: skill-registry approvals show extensions/${name}.`,
): CodedError {
  const message = `"${name}" was not approved: ${why}. ${advice}`;
  return new CodedError('EXTENSION_CHANGED', message, { name });
}

/** @param why - Why it cannot be undone, if that was tried. */
export function extensionHalfApproved(name: string, why?: string): CodedError {
  const reason = why === undefined ? '' : ` It cannot be undone: ${why.replace(/\.$/, '')}.`;
  const message = `An approval of extensions/${name} was interrupted, so its files may be of two versions, and nothing of it is loaded.${reason} The next start undoes it where the root is approved, and so does skill-registry approvals allow extensions/${name}; to approve the root: skill-registry approvals allow.`;
  return new CodedError('EXTENSION_HALF_APPROVED', message, { name });
}

/** @param folder - `data` or `extensions`. */
export function leadsOutOfRoot(rootDir: string, folder: string): CodedError {
  const message = `${folder}/ is a link that leads out of this root, which nobody has approved, so nothing is read or written there. Remove the link, or approve the root with skill-registry approvals allow.`;
  return new CodedError('PATH_TRAVERSAL', message, { root: rootDir });
}

export function eventUndeclared(from: string, event: string): CodedError {
  const message = `Extension "${from}" emitted "${event}", which its manifest does not list under events.emits. Add it there.`;
  return new CodedError('EVENT_UNDECLARED', message, { from, event });
}

export function commandFailed(name: string, extensionId: string, cause: unknown): CodedError {
  const message = `/${name} of extension "${extensionId}" failed: ${describeError(cause)}`;
  return new CodedError('COMMAND_FAILED', message, { name, extensionId }, cause);
}

export function commandNotFound(name: string, known: Iterable<string>): CodedError {
  const near = didYouMean(
    `/${name}`,
    [...known].map((one) => `/${one}`),
  ).replaceAll('"', '');
  return new CodedError('COMMAND_NOT_FOUND', `No command /${name}.${near} /help lists all commands.`, { name });
}

// --- internal ---

const UNANSWERED: ReadonlySet<unknown> = new Set(['ECONNREFUSED', 'ENOTFOUND', 'EHOSTUNREACH', 'ENETUNREACH']);

/** Looks also at the attempts of the AI SDK. */
function isUnanswered(error: unknown, depth = 8): boolean {
  if (!(error instanceof Error) || depth === 0) return false;
  const { cause, code, lastError } = error as Error & { readonly code?: unknown; readonly lastError?: unknown };
  return UNANSWERED.has(code) || [cause, lastError].some((below) => isUnanswered(below, depth - 1));
}

const ENDPOINT_ADVICE =
  'If that is the endpoint of the model, correct MODEL_BASE_URL, MODEL_API_KEY or MODEL_NAME, and start again.';
