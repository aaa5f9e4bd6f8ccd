// node onnx_predict.js CASES: runs models of ONNX with onnxruntime. CASES is a JSON file, a list of
// { path, rows, columns, numbers }; prints a list of the outputs of each by name, as lists.
const cases = JSON.parse(require('fs').readFileSync(process.argv[2], 'utf8'));
const ort = require(require.resolve('onnxruntime-node', {
  paths: [process.env.SCULLERY_ONNXRUNTIME || process.cwd(), ...module.paths]
}));

async function run(one) {
  const session = await ort.InferenceSession.create(one.path);
  const out = await session.run({
    x: new ort.Tensor('float64', one.numbers, [one.rows, one.columns])
  });
  const lists = {};
  for (const name of session.outputNames) lists[name] = Array.from(out[name].data, (value) =>
    typeof value === 'bigint' ? Number(value) : value);
  return lists;
}

(async () => {
  const list = [];
  for (const one of cases) list.push(await run(one));
  process.stdout.write(JSON.stringify(list));
})().catch((error) => {
  process.stderr.write(String(error));
  process.exit(1);
});
