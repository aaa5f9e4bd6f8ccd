--- The named data sets, as data: files, format, target, official parts, public source.
---
--- file.name and .sha256: those of the compact file, which a mirror (SCULLERY_DATA_URL) serves.
--- file.rows: its number of rows, if the set has several files.
--- file.content: the sha256 of the unpacked compact file, by which a conversion is checked.
--- file.origin: how to get the file from the public source: url, raw (its name there), sha256 of
---   the raw file if it is known, and the conversion to the compact form (see fetch.lua): header,
---   drop, replace, lines, order.
--- entry.names: the column names of a file without a header.
--- format "generated": no files; the function of that name in generated.lua makes the rows.
local UCI = "https://archive.ics.uci.edu/ml/machine-learning-databases/"
local FIGSHARE = "https://ndownloader.figshare.com/files/" -- the copies of the UCI files that scikit-learn fetches, with its sums
local MNIST = "https://ossci-datasets.s3.amazonaws.com/mnist/"

local adult_header = "age,workclass,fnlwgt,education,education_num,marital_status,occupation,relationship,race,sex,capital_gain,capital_loss," ..
  "hours_per_week,native_country,income"

local spambase_header = "word_freq_make,word_freq_address,word_freq_all,word_freq_3d,word_freq_our,word_freq_over,word_freq_remove," ..
  "word_freq_internet,word_freq_order,word_freq_mail,word_freq_receive,word_freq_will,word_freq_people,word_freq_report," ..
  "word_freq_addresses,word_freq_free,word_freq_business,word_freq_email,word_freq_you,word_freq_credit,word_freq_your," ..
  "word_freq_font,word_freq_000,word_freq_money,word_freq_hp,word_freq_hpl,word_freq_george,word_freq_650,word_freq_lab," ..
  "word_freq_labs,word_freq_telnet,word_freq_857,word_freq_data,word_freq_415,word_freq_85,word_freq_technology," ..
  "word_freq_1999,word_freq_parts,word_freq_pm,word_freq_direct,word_freq_cs,word_freq_meeting,word_freq_original," ..
  "word_freq_project,word_freq_re,word_freq_edu,word_freq_table,word_freq_conference,char_freq_semicolon,char_freq_paren," ..
  "char_freq_bracket,char_freq_exclam,char_freq_dollar,char_freq_hash,capital_run_length_average," ..
  "capital_run_length_longest,capital_run_length_total,is_spam"

local kddcup_header = "duration,protocol_type,service,flag,src_bytes,dst_bytes,land,wrong_fragment,urgent,hot,num_failed_logins,logged_in," ..
  "num_compromised,root_shell,su_attempted,num_root,num_file_creations,num_shells,num_access_files,num_outbound_cmds," ..
  "is_host_login,is_guest_login,count,srv_count,serror_rate,srv_serror_rate,rerror_rate,srv_rerror_rate,same_srv_rate," ..
  "diff_srv_rate,srv_diff_host_rate,dst_host_count,dst_host_srv_count,dst_host_same_srv_rate,dst_host_diff_srv_rate," ..
  "dst_host_same_src_port_rate,dst_host_srv_diff_host_rate,dst_host_serror_rate,dst_host_srv_serror_rate," ..
  "dst_host_rerror_rate,dst_host_srv_rerror_rate,label"

local covtype_names = { "Elevation", "Aspect", "Slope", "Horizontal_Distance_To_Hydrology", "Vertical_Distance_To_Hydrology", "Horizontal_Distance_To_Roadways",
  "Hillshade_9am", "Hillshade_Noon", "Hillshade_3pm", "Horizontal_Distance_To_Fire_Points",
  "Wilderness_Area1", "Wilderness_Area2", "Wilderness_Area3", "Wilderness_Area4" }
for i = 1, 40 do covtype_names[#covtype_names + 1] = "Soil_Type" .. i end
covtype_names[#covtype_names + 1] = "Cover_Type"

-- The public mirrors of MNIST serve the same numbers with another compression, so the sha256
-- differs.
local function mnist_file(name, sha256, raw_sha256, content)
  return { name = "mnist/" .. name, sha256 = sha256, content = content,
    origin = { url = MNIST .. name, sha256 = raw_sha256 } }
end
local mnist_files = {
  mnist_file("train-images-idx3-ubyte.gz", "71524e2cd1ad2968737f7f2f2ff69cbfc32df8ccddff51593f7cb2d4e0eb5b64",
    "440fcabf73cc546fa21475e81ea370265605f56be210a4024d2ca8f203523609",
    "ba891046e6505d7aadcbbe25680a0738ad16aec93bde7f9b65e87a2fc25776db"),
  mnist_file("t10k-images-idx3-ubyte.gz", "5634745efa576a17e7d4cf5cd9d09123c75e6538e5114267c2d156edaf519341",
    "8d422c7b0a1c1c79245a5bcf07fe86e33eeafee792b84584aec276f5a2dbc4e6",
    "0fa7898d509279e482958e8ce81c8e77db3f2f8254e26661ceb7762c4d494ce7"),
  mnist_file("train-labels-idx1-ubyte.gz", "fe03b8bd7915f70bf5aa08be480aa413fbd85afcaa58b35d230d335f284fd88e",
    "3552534a0a558bbed6aed32b30c495cca23d567ec52cac8be1a0730e8010255c",
    "65a50cbbf4e906d70832878ad85ccda5333a97f0f4c3dd2ef09a8a9eef7101c5"),
  mnist_file("t10k-labels-idx1-ubyte.gz", "ae18e77e031ccde52407f794d123116439864147d33ac992975f85dd4dc42af6",
    "f7ae60f92e00ec6debd23a6088c31dbd2371eca3ffa0defaefb259924204aec6",
    "ff7bcfd416de33731a308c3f266cc351222c34898ecbeaf847f06e48f7ec33f2"),
}

return {
  wdbc = {
    files = { { name = "wdbc.csv.gz", sha256 = "ec8660f68a61979d55438167e43571f7ec88511152feeef1afdd685ddcad3d8b",
      content = "d1c759cb110155a49fc1e59f67cfc3d74ed15760bff521a451fc64f47af26c05" } },
    format = "csv", target = "diagnosis", task = "classification", rows = 569, columns = 31,
    about = "Breast Cancer Wisconsin (Diagnostic), UCI; W. Wolberg, N. Street, O. Mangasarian, 1995 (shipped)",
  },
  friedman1 = {
    files = {},
    format = "generated", task = "regression", rows = 2000, columns = 11,
    about = "Friedman 1, made by its equation from a seed; J. Friedman, 1991; noise of variance 1, columns 6 to 10 idle",
  },
  waveform = {
    files = {},
    format = "generated", task = "classification", rows = 2000, columns = 22,
    about = "Waveforms, made by their equation from a seed; L. Breiman and others, 1984; the best error is about 14 %",
  },
  adult = {
    files = { { name = "adult.train.csv.gz", rows = 32561, sha256 = "a833df349bf96e939cb2de65a084d3a21cd64c4781a95551430453ac6892bb3b",
      content = "3b8a6abd697a6623ef2ccbffc3e2802e167e7fdaa853003d3bd557b0ce7f5d2a",
      origin = { url = UCI .. "adult/adult.data", raw = "adult.data", sha256 = "5b00264637dbfec36bdeaab5676b0b309ff9eb788d63554ca0a249491c86603d",
        header = adult_header, replace = { { ", ", "," } } } },
      { name = "adult.test.csv.gz", rows = 16281, sha256 = "8b1e351af7a41f3745edeff5bf1aaf280319e11af13ee030b230d8ad83115396",
      content = "eb6e9f02496bed4137b1a069b8af64b90eb534ba46143948667034dddef9abd9",
      origin = { url = UCI .. "adult/adult.test", raw = "adult.test", sha256 = "a2a9044bc167a35b2361efbabec64e89d69ce82d9790d2980119aac5fd7e9c05",
        header = adult_header, drop = "|", replace = { { ", ", "," }, { "%.\n", "\n" } } } } },
    format = "csv", target = "income", task = "classification", rows = 48842, columns = 15,
    about = "Adult census income, UCI; B. Becker and R. Kohavi, 1996; official parts",
  },
  skin = {
    files = { { name = "skin.csv.gz", sha256 = "3cc798156e98ebad45f7ca0d85810be386c04eed642cd69993198afbe22dc180",
      content = "62c120ca8a1c1233453eef514ec079d745b7d7077c4adb295af58022c2e989bf",
      origin = { url = UCI .. "00229/Skin_NonSkin.txt", raw = "Skin_NonSkin.txt", header = "B,G,R,label", replace = { { "\t", "," } } } } },
    format = "csv", target = "label", task = "classification", rows = 245057, columns = 4,
    about = "Skin segmentation, UCI; R. Bhatt and A. Dhall; sorted by class",
  },
  mnist = {
    files = mnist_files,
    format = "idx", task = "classification", rows = 70000, columns = 784, scale = 1 / 255,
    about = "MNIST handwritten digits, pixels divided by 255; Y. LeCun, C. Cortes, C. Burges; official parts",
  },
  mnist17 = {
    files = mnist_files,
    format = "idx", task = "classification", rows = 15170, columns = 784, scale = 1 / 255, keep = { 1, 7 },
    about = "MNIST, digits 1 and 7 only; official parts",
  },
  spambase = {
    files = { { name = "spambase.csv.gz", sha256 = "f37852845a1bea31d137d3bc93522af358bf081093cebf4dd3761b22c6cfc78c",
      content = "71bbb40e8fed026c72dcd9f279d3645c56ebfedad9395e08725dc245e24cbac5",
      origin = { url = UCI .. "spambase/spambase.data", raw = "spambase.data", header = spambase_header } } },
    format = "csv", target = "is_spam", task = "classification", rows = 4601, columns = 58,
    about = "Spambase, UCI; M. Hopkins and others, 1999; sorted by class",
  },
  kddcup10 = {
    files = { { name = "kddcup10.csv.gz", sha256 = "f270c87f88daf7b900951ec7d806b504f17e01c43d4a5f530a316265e5857f1e",
      content = "d72161eee165aede2e552235dd8816c75225e277a5fa318747e5a84fcf29903b",
      origin = { url = FIGSHARE .. "5976042", raw = "kddcup.data_10_percent.gz",
        sha256 = "8045aca0d84e70e622d1148d7df782496f6333bf6eb979a1b0837c42a9fd9561", header = kddcup_header } } },
    format = "csv", target = "label", task = "classification", rows = 494021, columns = 42,
    about = "KDD Cup 1999, the 10 percent file; S. Stolfo and others",
  },
  covtype10k = {
    files = { { name = "covtype10k.csv.gz", sha256 = "7223ac7ce005b994280d348112d260dcee0044f17ed4e8302089851aac742a46",
      content = "0a2bd67497faf5f0f7fbede351289b5b7ec8617042afe4a0e4b0f21585250a0b",
      origin = { url = FIGSHARE .. "5976039", raw = "covtype.data.gz",
        sha256 = "614360d0257557dd1792834a85a1cdebfadc3c4f30b011d56afee7ffb5b15771", header = table.concat(covtype_names, ","), lines = 10000 } } },
    format = "csv", target = "Cover_Type", task = "classification", rows = 10000, columns = 55,
    about = "Covertype, the first 10,000 rows, UCI; J. Blackard and D. Dean, 1999",
  },
  covtype = {
    files = { { name = "covtype.data.gz",
      sha256 = "614360d0257557dd1792834a85a1cdebfadc3c4f30b011d56afee7ffb5b15771",
      origin = { url = FIGSHARE .. "5976039",
        sha256 = "614360d0257557dd1792834a85a1cdebfadc3c4f30b011d56afee7ffb5b15771" } } },
    format = "csv", names = covtype_names, target = "Cover_Type", task = "classification",
    rows = 581012, columns = 55,
    about = "Covertype, all rows, UCI; J. Blackard and D. Dean, 1999",
  },
  letter = {
    files = { { name = "letter.libsvm.gz", sha256 = "66aa84679fc99415d17ff29ba7ec1d3f4b579f578368ac1c9656e842099a910c",
      content = "701e46fa614770d41849b5df32268515df49559463887d50f00d6e1aeeaee7b9",
      origin = { url = "https://www.csie.ntu.edu.tw/~cjlin/libsvmtools/datasets/multiclass/letter.scale.tr", raw = "letter.scale.tr" } } },
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
    files = { { name = "california_housing.csv.gz", sha256 = "8e6a98c310d15690011919cfd7a42dcd8f95dcf27c1e80cc78c2079b9acb6690",
      content = "f78456cb74e99b592654ebcb36ad7412ef390cbdd17cb253116242aab70ec492",
      origin = { url = "https://raw.githubusercontent.com/ageron/handson-ml/master/datasets/housing/housing.csv", raw = "housing.csv",
        order = { 1, 2, 3, 4, 5, 6, 7, 8, 10, 9 }, replace = { { "(%d)%.0+%f[,\n]", "%1" } } } } },
    format = "csv", target = "median_house_value", task = "regression", rows = 20640, columns = 10,
    about = "California housing; R. Pace and R. Barry, 1997",
  },
  salsa_speech = {
    files = { { name = "salsa/speech.csv.gz", sha256 = "83c59970fbc062ee0df875727808078fe484ee2a0e8d7039fb51d0e79b783881" } },
    format = "csv", target = "y", task = "regression", rows = 1040, columns = 22, parts = { 520, 520, first = 1 },
    about = "SALSA regression set speech; K. Kandasamy and Y. Yu, 2016; the authors' parts, not normalised",
  },
  salsa_propulsion = {
    files = { { name = "salsa/propulsion.csv.gz", sha256 = "bd64ba924edb9b3c573fe7f2487a2ef182530c89969c19bfd4c49a1861337643" } },
    format = "csv", target = "y", task = "regression", rows = 11934, columns = 16, parts = { 200, 200, first = 1 },
    about = "SALSA regression set propulsion; K. Kandasamy and Y. Yu, 2016; the authors' parts, not normalised",
  },
  salsa_housing = {
    files = { { name = "salsa/housing.csv.gz", sha256 = "149e8648b2c5798941a37958a33d3dcedda74f17b585beb28ed11424511030de" } },
    format = "csv", target = "y", task = "regression", rows = 506, columns = 13, parts = { 256, 250, first = 1 },
    about = "SALSA regression set housing; K. Kandasamy and Y. Yu, 2016; the authors' parts, not normalised",
  },
  salsa_music = {
    files = { { name = "salsa/music.csv.gz", sha256 = "e3a2d4a7e9c2a48f1b6d03631b100c3f2509e3be5ad94f03bc148dc6a90e4a3c" } },
    format = "csv", target = "y", task = "regression", rows = 2000, columns = 91, parts = { 1000, 1000, first = 1 },
    about = "SALSA regression set music; K. Kandasamy and Y. Yu, 2016; the authors' parts, not normalised",
  },
  salsa_telemonitoring = {
    files = { { name = "salsa/telemonitoring.csv.gz", sha256 = "117ddc65a80732fea4540146c764bb6008228a6ce3eb953059e72f23e6762154" } },
    format = "csv", target = "y", task = "regression", rows = 4008, columns = 20, parts = { 1000, 867, first = 1 },
    about = "SALSA regression set telemonitoring; K. Kandasamy and Y. Yu, 2016; the authors' parts, not normalised",
  },
  salsa_forestfires = {
    files = { { name = "salsa/forestfires.csv.gz", sha256 = "10007425eec819dbf9908435e108abfb376a821680fb6a7dd4bc9895f03b5510" } },
    format = "csv", target = "y", task = "regression", rows = 517, columns = 11, parts = { 211, 167, first = 140 },
    about = "SALSA regression set forestfires; K. Kandasamy and Y. Yu, 2016; the authors' parts, not normalised",
  },
  salsa_blog = {
    files = { { name = "salsa/blog.csv.gz", sha256 = "1c436c138f15aa74c360c479a34b77981d8fe7202b44a0b0743b1e7dd219cdf8" } },
    format = "csv", target = "y", task = "regression", rows = 1388, columns = 51, parts = { 700, 688, first = 1 },
    about = "SALSA regression set blog; K. Kandasamy and Y. Yu, 2016; the authors' parts, not normalised",
  },
  salsa_blog_comments = {
    files = { { name = "salsa/blog_comments.csv.gz", sha256 = "ff5ddb7ce9e55780083652675e56b1ab4d2443b41a92b573332c355a101b1a06" } },
    format = "csv", target = "y", task = "regression", rows = 1388, columns = 92, parts = { 700, 688, first = 1 },
    about = "SALSA regression set blog_comments; K. Kandasamy and Y. Yu, 2016; the authors' parts, not normalised",
  },
  salsa_galaxy = {
    files = { { name = "salsa/galaxy.csv.gz", sha256 = "14bb31cd2f481bad4c591c935461008bcb553c756ac0d28e0fc7821d4e602440" } },
    format = "csv", target = "y", task = "regression", rows = 4000, columns = 21, parts = { 2000, 2000, first = 1 },
    about = "SALSA regression set galaxy; K. Kandasamy and Y. Yu, 2016; the authors' parts, not normalised",
  },
  salsa_skillcraft = {
    files = { { name = "salsa/skillcraft.csv.gz", sha256 = "b5a18f721ae680a92383128a368b30b8294e0573f7cb13f0616feaff980128fe" } },
    format = "csv", target = "y", task = "regression", rows = 3338, columns = 19, parts = { 1700, 1630, first = 1 },
    about = "SALSA regression set skillcraft; K. Kandasamy and Y. Yu, 2016; the authors' parts, not normalised",
  },
  salsa_airfoil = {
    files = { { name = "salsa/airfoil.csv.gz", sha256 = "11715abbe4da7c8572a8d869ba977de65a85ea2bc9b687e0274337645c7ddbc7" } },
    format = "csv", target = "y", task = "regression", rows = 1503, columns = 6, parts = { 750, 750, first = 1 },
    about = "SALSA regression set airfoil; K. Kandasamy and Y. Yu, 2016; the authors' parts, not normalised",
  },
  salsa_ccpp = {
    files = { { name = "salsa/ccpp.csv.gz", sha256 = "39b6d7b09fa3d01e3f2ca293e8e79d648deb274e298ca3ec4ee5ba66437661cf" } },
    format = "csv", target = "y", task = "regression", rows = 7000, columns = 5, parts = { 2000, 2000, first = 1 },
    about = "SALSA regression set ccpp; K. Kandasamy and Y. Yu, 2016; the authors' parts, not normalised",
  },
  salsa_insulin = {
    files = { { name = "salsa/insulin.csv.gz", sha256 = "7425f4df17be0e6d33794739f9bc029eb7f33aa33e1be1ff13cc065089b0df8b" } },
    format = "csv", target = "y", task = "regression", rows = 506, columns = 51, parts = { 256, 250, first = 1 },
    about = "SALSA regression set insulin; K. Kandasamy and Y. Yu, 2016; the authors' parts, not normalised",
  },
}
