export { type Archive, type ArchiveEntry, unpack } from './archive.ts';
export { type DownloadOptions, download, downloadIfChanged, type OriginHeaders, sendJson } from './download.ts';
export { originRefused, originUnavailable } from './errors.ts';
export { type PackedFile, packTarGz } from './pack.ts';
