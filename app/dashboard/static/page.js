// What a page does beyond its HTML.

import "./choosing.js";
import { enable } from "./copying.js";
import "./figures.js";
import "./live.js";
import { tellTimes } from "./times.js";

tellTimes(document);
enable(document);
