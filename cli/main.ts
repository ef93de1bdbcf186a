#!/usr/bin/env node
// Import nothing before this check: in an older Node an import fails without saying that Node is too old.
const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
if (major < 20 || (major === 20 && minor < 19)) {
  const remedy = 'Use Node 24, or 22.13 or a later 22, or 20.19 or a later 20.';
  process.stderr.write(`skill-registry: Node ${process.versions.node} is too old. ${remedy}\n`);
  process.exitCode = 1;
} else await import('./run-process.ts');
