// Workers, and the libraries that node brings with it.
const { Worker, isMainThread, parentPort } = require('worker_threads');
if (isMainThread) {
  let left = 3, sum = 0;
  for (let i = 0; i < 3; ++i) {
    const worker = new Worker(__filename);
    worker.on('message', (value) => { sum += value; });
    worker.on('exit', () => {
      if (--left > 0) return;
      const packed = require('zlib').gzipSync(Buffer.alloc(1e6, 'abc'));
      const digest = require('crypto').createHash('sha256').update(packed).digest('hex');
      console.log('sum', sum, packed.length, digest.slice(0, 8));
    });
  }
} else {
  let sum = 0;
  for (let i = 0; i < 1e6; ++i) sum += i % 7;
  let caught = 0;
  for (let i = 0; i < 1000; ++i) {
    try { null.x; } catch (e) { ++caught; }
  }
  parentPort.postMessage(sum + caught);
}
