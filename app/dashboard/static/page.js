// What a page does beyond its HTML.

import { enable } from "./copying.js";
import "./figures.js";
import "./link.js";
import "./live.js";
import { tellTimes } from "./times.js";

tellTimes(document);
enable(document);
