export { unpack } from './archive.ts';
export { download, downloadIfChanged, isLoopback } from './download.ts';
export { originRefused, originUnavailable } from './errors.ts';
