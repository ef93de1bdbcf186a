export { type Archive, type ArchiveEntry, unpack } from './archive.ts';
export { download, downloadIfChanged } from './download.ts';
export { originRefused, originUnavailable } from './errors.ts';
export { type PackedFile, packTarGz } from './pack.ts';
