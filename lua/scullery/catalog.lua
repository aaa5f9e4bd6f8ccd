--- The named data sets: files (with their sha256 and, where the public origin serves the very same bytes, its address), format, target, official parts.
return {
  wdbc = {
    files = { { name = "wdbc.csv", sha256 = "d1c759cb110155a49fc1e59f67cfc3d74ed15760bff521a451fc64f47af26c05" } },
    format = "csv", target = "diagnosis", task = "classification", rows = 569, columns = 31,
    about = "Breast Cancer Wisconsin (Diagnostic), UCI; W. Wolberg, N. Street, O. Mangasarian, 1995 (shipped)",
  },
  adult = {
    files = { { name = "adult.train.csv.gz", sha256 = "a833df349bf96e939cb2de65a084d3a21cd64c4781a95551430453ac6892bb3b" },
      { name = "adult.test.csv.gz", sha256 = "8b1e351af7a41f3745edeff5bf1aaf280319e11af13ee030b230d8ad83115396" } },
    format = "csv", target = "income", task = "classification", rows = 48842, columns = 15,
    about = "Adult census income, UCI; B. Becker and R. Kohavi, 1996; official parts",
  },
  skin = {
    files = { { name = "skin.csv.gz", sha256 = "3cc798156e98ebad45f7ca0d85810be386c04eed642cd69993198afbe22dc180" } },
    format = "csv", target = "label", task = "classification", rows = 245057, columns = 4,
    about = "Skin segmentation, UCI; R. Bhatt and A. Dhall; sorted by class",
  },
  mnist = {
    files = { { name = "mnist/train-images-idx3-ubyte.gz", sha256 = "71524e2cd1ad2968737f7f2f2ff69cbfc32df8ccddff51593f7cb2d4e0eb5b64", url = "https://ossci-datasets.s3.amazonaws.com/mnist/train-images-idx3-ubyte.gz" },
      { name = "mnist/t10k-images-idx3-ubyte.gz", sha256 = "5634745efa576a17e7d4cf5cd9d09123c75e6538e5114267c2d156edaf519341", url = "https://ossci-datasets.s3.amazonaws.com/mnist/t10k-images-idx3-ubyte.gz" },
      { name = "mnist/train-labels-idx1-ubyte.gz", sha256 = "fe03b8bd7915f70bf5aa08be480aa413fbd85afcaa58b35d230d335f284fd88e", url = "https://ossci-datasets.s3.amazonaws.com/mnist/train-labels-idx1-ubyte.gz" },
      { name = "mnist/t10k-labels-idx1-ubyte.gz", sha256 = "ae18e77e031ccde52407f794d123116439864147d33ac992975f85dd4dc42af6", url = "https://ossci-datasets.s3.amazonaws.com/mnist/t10k-labels-idx1-ubyte.gz" } },
    format = "idx", task = "classification", rows = 70000, columns = 784, scale = 1 / 255,
    about = "MNIST handwritten digits, pixels divided by 255; Y. LeCun, C. Cortes, C. Burges; official parts",
  },
  mnist17 = {
    files = { { name = "mnist/train-images-idx3-ubyte.gz", sha256 = "71524e2cd1ad2968737f7f2f2ff69cbfc32df8ccddff51593f7cb2d4e0eb5b64", url = "https://ossci-datasets.s3.amazonaws.com/mnist/train-images-idx3-ubyte.gz" },
      { name = "mnist/t10k-images-idx3-ubyte.gz", sha256 = "5634745efa576a17e7d4cf5cd9d09123c75e6538e5114267c2d156edaf519341", url = "https://ossci-datasets.s3.amazonaws.com/mnist/t10k-images-idx3-ubyte.gz" },
      { name = "mnist/train-labels-idx1-ubyte.gz", sha256 = "fe03b8bd7915f70bf5aa08be480aa413fbd85afcaa58b35d230d335f284fd88e", url = "https://ossci-datasets.s3.amazonaws.com/mnist/train-labels-idx1-ubyte.gz" },
      { name = "mnist/t10k-labels-idx1-ubyte.gz", sha256 = "ae18e77e031ccde52407f794d123116439864147d33ac992975f85dd4dc42af6", url = "https://ossci-datasets.s3.amazonaws.com/mnist/t10k-labels-idx1-ubyte.gz" } },
    format = "idx", task = "classification", rows = 15170, columns = 784, scale = 1 / 255, keep = { 1, 7 },
    about = "MNIST, digits 1 and 7 only; official parts",
  },
  spambase = {
    files = { { name = "spambase.csv.gz", sha256 = "f37852845a1bea31d137d3bc93522af358bf081093cebf4dd3761b22c6cfc78c" } },
    format = "csv", target = "is_spam", task = "classification", rows = 4601, columns = 58,
    about = "Spambase, UCI; M. Hopkins and others, 1999; sorted by class",
  },
  kddcup10 = {
    files = { { name = "kddcup10.csv.gz", sha256 = "f270c87f88daf7b900951ec7d806b504f17e01c43d4a5f530a316265e5857f1e" } },
    format = "csv", target = "label", task = "classification", rows = 494021, columns = 42,
    about = "KDD Cup 1999, the 10 percent file; S. Stolfo and others",
  },
  covtype10k = {
    files = { { name = "covtype10k.csv.gz", sha256 = "7223ac7ce005b994280d348112d260dcee0044f17ed4e8302089851aac742a46" } },
    format = "csv", target = "Cover_Type", task = "classification", rows = 10000, columns = 55,
    about = "Covertype, the first 10,000 rows, UCI; J. Blackard and D. Dean, 1999",
  },
  letter = {
    files = { { name = "letter.libsvm.gz", sha256 = "66aa84679fc99415d17ff29ba7ec1d3f4b579f578368ac1c9656e842099a910c" } },
    format = "libsvm", task = "classification", rows = 10500, columns = 17,
    about = "Letter recognition, Statlog, scaled; P. Frey and D. Slate, 1991",
  },
  cpu_act = {
    files = { { name = "cpu_act.csv.gz", sha256 = "f80ca25186665c1aea93c4789cc229ef91fdd0d115781de123bfa3ff8a17d207" } },
    format = "csv", target = "usr", task = "regression", rows = 8192, columns = 22,
    about = "Computer activity, Delve",
  },
  house_16h = {
    files = { { name = "house_16h.csv.gz", sha256 = "598ae3c942b563924e5f1ebe566569a1791319211cebde0035231b09ed208edc" } },
    format = "csv", target = "price", task = "regression", rows = 22784, columns = 17,
    about = "House prices by place, US census 1990, Delve",
  },
  california_housing = {
    files = { { name = "california_housing.csv.gz", sha256 = "8e6a98c310d15690011919cfd7a42dcd8f95dcf27c1e80cc78c2079b9acb6690" } },
    format = "csv", target = "median_house_value", task = "regression", rows = 20640, columns = 10,
    about = "California housing; R. Pace and R. Barry, 1997",
  },
  salsa_speech = {
    files = { { name = "salsa/speech.csv.gz", sha256 = "83c59970fbc062ee0df875727808078fe484ee2a0e8d7039fb51d0e79b783881" } },
    format = "csv", target = "y", task = "regression", rows = 1040, columns = 22, parts = { 520, 520, first = 1 },
    about = "SALSA regression set speech; K. Kandasamy and Y. Yu, 2016; the loader's parts, not normalised",
  },
  salsa_propulsion = {
    files = { { name = "salsa/propulsion.csv.gz", sha256 = "bd64ba924edb9b3c573fe7f2487a2ef182530c89969c19bfd4c49a1861337643" } },
    format = "csv", target = "y", task = "regression", rows = 11934, columns = 16, parts = { 200, 200, first = 1 },
    about = "SALSA regression set propulsion; K. Kandasamy and Y. Yu, 2016; the loader's parts, not normalised",
  },
  salsa_housing = {
    files = { { name = "salsa/housing.csv.gz", sha256 = "149e8648b2c5798941a37958a33d3dcedda74f17b585beb28ed11424511030de" } },
    format = "csv", target = "y", task = "regression", rows = 506, columns = 13, parts = { 256, 250, first = 1 },
    about = "SALSA regression set housing; K. Kandasamy and Y. Yu, 2016; the loader's parts, not normalised",
  },
  salsa_music = {
    files = { { name = "salsa/music.csv.gz", sha256 = "e3a2d4a7e9c2a48f1b6d03631b100c3f2509e3be5ad94f03bc148dc6a90e4a3c" } },
    format = "csv", target = "y", task = "regression", rows = 2000, columns = 91, parts = { 1000, 1000, first = 1 },
    about = "SALSA regression set music; K. Kandasamy and Y. Yu, 2016; the loader's parts, not normalised",
  },
  salsa_telemonitoring = {
    files = { { name = "salsa/telemonitoring.csv.gz", sha256 = "117ddc65a80732fea4540146c764bb6008228a6ce3eb953059e72f23e6762154" } },
    format = "csv", target = "y", task = "regression", rows = 4008, columns = 20, parts = { 1000, 867, first = 1 },
    about = "SALSA regression set telemonitoring; K. Kandasamy and Y. Yu, 2016; the loader's parts, not normalised",
  },
  salsa_forestfires = {
    files = { { name = "salsa/forestfires.csv.gz", sha256 = "10007425eec819dbf9908435e108abfb376a821680fb6a7dd4bc9895f03b5510" } },
    format = "csv", target = "y", task = "regression", rows = 517, columns = 11, parts = { 211, 167, first = 140 },
    about = "SALSA regression set forestfires; K. Kandasamy and Y. Yu, 2016; the loader's parts, not normalised",
  },
  salsa_blog = {
    files = { { name = "salsa/blog.csv.gz", sha256 = "1c436c138f15aa74c360c479a34b77981d8fe7202b44a0b0743b1e7dd219cdf8" } },
    format = "csv", target = "y", task = "regression", rows = 1388, columns = 51, parts = { 700, 688, first = 1 },
    about = "SALSA regression set blog; K. Kandasamy and Y. Yu, 2016; the loader's parts, not normalised",
  },
  salsa_blog_comments = {
    files = { { name = "salsa/blog_comments.csv.gz", sha256 = "ff5ddb7ce9e55780083652675e56b1ab4d2443b41a92b573332c355a101b1a06" } },
    format = "csv", target = "y", task = "regression", rows = 1388, columns = 92, parts = { 700, 688, first = 1 },
    about = "SALSA regression set blog_comments; K. Kandasamy and Y. Yu, 2016; the loader's parts, not normalised",
  },
  salsa_galaxy = {
    files = { { name = "salsa/galaxy.csv.gz", sha256 = "14bb31cd2f481bad4c591c935461008bcb553c756ac0d28e0fc7821d4e602440" } },
    format = "csv", target = "y", task = "regression", rows = 4000, columns = 21, parts = { 2000, 2000, first = 1 },
    about = "SALSA regression set galaxy; K. Kandasamy and Y. Yu, 2016; the loader's parts, not normalised",
  },
  salsa_skillcraft = {
    files = { { name = "salsa/skillcraft.csv.gz", sha256 = "b5a18f721ae680a92383128a368b30b8294e0573f7cb13f0616feaff980128fe" } },
    format = "csv", target = "y", task = "regression", rows = 3338, columns = 19, parts = { 1700, 1630, first = 1 },
    about = "SALSA regression set skillcraft; K. Kandasamy and Y. Yu, 2016; the loader's parts, not normalised",
  },
  salsa_airfoil = {
    files = { { name = "salsa/airfoil.csv.gz", sha256 = "11715abbe4da7c8572a8d869ba977de65a85ea2bc9b687e0274337645c7ddbc7" } },
    format = "csv", target = "y", task = "regression", rows = 1503, columns = 6, parts = { 750, 750, first = 1 },
    about = "SALSA regression set airfoil; K. Kandasamy and Y. Yu, 2016; the loader's parts, not normalised",
  },
  salsa_ccpp = {
    files = { { name = "salsa/ccpp.csv.gz", sha256 = "39b6d7b09fa3d01e3f2ca293e8e79d648deb274e298ca3ec4ee5ba66437661cf" } },
    format = "csv", target = "y", task = "regression", rows = 7000, columns = 5, parts = { 2000, 2000, first = 1 },
    about = "SALSA regression set ccpp; K. Kandasamy and Y. Yu, 2016; the loader's parts, not normalised",
  },
  salsa_insulin = {
    files = { { name = "salsa/insulin.csv.gz", sha256 = "7425f4df17be0e6d33794739f9bc029eb7f33aa33e1be1ff13cc065089b0df8b" } },
    format = "csv", target = "y", task = "regression", rows = 506, columns = 51, parts = { 256, 250, first = 1 },
    about = "SALSA regression set insulin; K. Kandasamy and Y. Yu, 2016; the loader's parts, not normalised",
  },
}
