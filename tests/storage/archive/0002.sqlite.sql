BEGIN TRANSACTION;
CREATE TABLE alembic_version (
	version_num VARCHAR(32) NOT NULL, 
	CONSTRAINT alembic_version_pkc PRIMARY KEY (version_num)
);
INSERT INTO "alembic_version" VALUES('0002');
CREATE TABLE attempts (
	trial_id INTEGER NOT NULL, 
	number INTEGER NOT NULL, 
	lease_id VARCHAR(64) NOT NULL, 
	request_id VARCHAR(100) NOT NULL, 
	worker VARCHAR(100) NOT NULL, 
	incarnation VARCHAR(100) NOT NULL, 
	device VARCHAR(100) NOT NULL, 
	environment JSON NOT NULL, 
	last_step BIGINT NOT NULL, 
	started_at BIGINT NOT NULL, 
	ended_at BIGINT, 
	outcome VARCHAR(20), 
	loss FLOAT, 
	message TEXT, 
	traceback TEXT, 
	CONSTRAINT attempts_pk PRIMARY KEY (trial_id, number), 
	CONSTRAINT attempts_trial_id_fk FOREIGN KEY(trial_id) REFERENCES trials (id), 
	CONSTRAINT attempts_lease_id_unique UNIQUE (lease_id), 
	CONSTRAINT attempts_worker_incarnation_request_id_unique UNIQUE (worker, incarnation, request_id)
);
INSERT INTO "attempts" VALUES(1,1,'06234c0aa7113124874e13f9feec01f0','wish-1','node-1','monday','cuda:0','{"torch": "2.13"}',2,1795051472022,1795051472065,'succeeded',0.5,NULL,NULL);
INSERT INTO "attempts" VALUES(2,1,'0dc001cddd20a71337c239df57cbc1ca','wish-2','node-1','monday','cuda:0','{"torch": "2.13"}',2,1795051472081,1795051472105,'succeeded',0.6,NULL,NULL);
INSERT INTO "attempts" VALUES(3,1,'5cff3a3d9ec183b9ccf8d4af41d23c7b','wish-3','node-1','monday','cuda:0','{"torch": "2.13"}',2,1795051472119,1795051472144,'succeeded',0.7,NULL,NULL);
INSERT INTO "attempts" VALUES(4,1,'966da2b6ae8f37ea592fde5d6d4435c8','wish-4','node-1','monday','cuda:0','{"torch": "2.13"}',2,1795051472161,1795051472188,'succeeded',0.8,NULL,NULL);
INSERT INTO "attempts" VALUES(5,1,'c99aa5060b0124ed8f8405c0886d0138','wish-5','node-1','monday','cuda:0','{"torch": "2.13"}',2,1795051472200,1795051472228,'succeeded',0.9,NULL,NULL);
INSERT INTO "attempts" VALUES(6,1,'a770992c19b99db691eb913d9d4b9eb7','wish-6','node-1','monday','cuda:0','{"torch": "2.13"}',2,1795051472242,1795051472268,'succeeded',1.0,NULL,NULL);
INSERT INTO "attempts" VALUES(7,1,'f271d22f37826e56b487b81e7f70c8a5','wish-7','node-1','monday','cuda:0','{"torch": "2.13"}',-1,1795051472284,1795051472291,'diverged',NULL,'nan',NULL);
INSERT INTO "attempts" VALUES(8,1,'00560bd02f5114670da50927f6ed28e4','wish-8','node-1','monday','cuda:0','{"torch": "2.13"}',-1,1795051472306,1795051472313,'error',NULL,'boom','Traceback: boom');
INSERT INTO "attempts" VALUES(8,2,'64c06ffab78fb7e3282b5ea9c602921b','wish-9','node-1','monday','cuda:0','{"torch": "2.13"}',-1,1795051472318,1795051472322,'out_of_memory',NULL,'boom','Traceback: boom');
INSERT INTO "attempts" VALUES(9,1,'23064a0cabc23af01a0bdcfe0940f1bf','wish-10','node-1','monday','cuda:0','{"torch": "2.13"}',-1,1795051472336,1795051472345,'succeeded',0.9,NULL,NULL);
INSERT INTO "attempts" VALUES(10,1,'f28d3e6e4389ab1c228ff94044fe3457','wish-11','node-1','monday','cuda:0','{"torch": "2.13"}',-1,1795051472357,1795051472365,'released',NULL,NULL,NULL);
INSERT INTO "attempts" VALUES(10,2,'ba1b5b4850e31bdb6314badd12840b4f','wish-12','node-1','monday','cuda:0','{"torch": "2.13"}',-1,1795051472377,1795051474885,'lost',NULL,NULL,NULL);
INSERT INTO "attempts" VALUES(10,3,'704a6fa1b8195faec059e42a9d20665c','wish-13','node-2','monday','cuda:0','{"torch": "2.13"}',-1,1795051474886,1795051474895,'succeeded',0.7,NULL,NULL);
INSERT INTO "attempts" VALUES(11,1,'13b641a41fdb780a4c44e28f202eaa7a','wish-14','node-1','monday','cuda:0','{"torch": "2.13"}',-1,1795051474908,1795051474913,'succeeded',0.5,NULL,NULL);
INSERT INTO "attempts" VALUES(12,1,'7d60db0800bc58969d2aea3ad9d99989','wish-15','node-1','monday','cuda:0','{"torch": "2.13"}',-1,1795051474921,1795051474926,'succeeded',0.4,NULL,NULL);
INSERT INTO "attempts" VALUES(13,1,'bf1a4d785c06b21f241d96043a9168af','wish-16','node-1','monday','cuda:0','{"torch": "2.13"}',-1,1795051474939,1795051474944,'succeeded',0.1,NULL,NULL);
INSERT INTO "attempts" VALUES(14,1,'3eacec13aa41362bea1b738206f4d87d','wish-17','node-1','monday','cuda:0','{"torch": "2.13"}',-1,1795051474953,1795051474958,'succeeded',0.2,NULL,NULL);
INSERT INTO "attempts" VALUES(15,1,'38b861bcedc6834cea08edfb21b7601d','wish-18','node-1','monday','cuda:0','{"torch": "2.13"}',-1,1795051474967,1795051474971,'succeeded',0.3,NULL,NULL);
INSERT INTO "attempts" VALUES(16,1,'4c594fb365f2e2deda5f40df220df41d','wish-19','node-1','monday','cuda:0','{"torch": "2.13"}',-1,1795051474980,1795051474985,'succeeded',0.4,NULL,NULL);
INSERT INTO "attempts" VALUES(17,1,'7536cff96775178228b14a3e9f075250','wish-20','node-1','monday','cuda:0','{"torch": "2.13"}',-1,1795051475417,1795051475422,'succeeded',0.5,NULL,NULL);
INSERT INTO "attempts" VALUES(18,1,'87766a41d7607f1168d64a06d76f4204','wish-21','node-1','monday','cuda:0','{"torch": "2.13"}',-1,1795051475437,1795051475441,'succeeded',0.5,NULL,NULL);
INSERT INTO "attempts" VALUES(19,1,'84a7b89b4d46fbc59e73dfd330a2c0af','wish-22','node-1','monday','cuda:0','{"torch": "2.13"}',-1,1795051475449,1795051475453,'succeeded',0.4,NULL,NULL);
INSERT INTO "attempts" VALUES(20,1,'264255eceb0359c1e200c133a97c9fac','wish-23','node-1','monday','cuda:0','{"torch": "2.13"}',-1,1795051475460,1795051475465,'succeeded',0.3,NULL,NULL);
INSERT INTO "attempts" VALUES(21,1,'782fde8de49e2c8ad6a062350cf0b232','wish-24','node-1','monday','cuda:0','{"torch": "2.13"}',-1,1795051475472,1795051475476,'succeeded',0.5,NULL,NULL);
INSERT INTO "attempts" VALUES(22,1,'661663cd9918881a69a6af684b84e829','wish-25','node-1','monday','cuda:0','{"torch": "2.13"}',-1,1795051475483,1795051475487,'succeeded',0.4,NULL,NULL);
INSERT INTO "attempts" VALUES(23,1,'b455180bf9100d8863145f619a349078','wish-26','node-1','monday','cuda:0','{"torch": "2.13"}',-1,1795051475494,1795051475499,'succeeded',0.3,NULL,NULL);
INSERT INTO "attempts" VALUES(24,1,'5ea8ed2ee239b4daf0fa9e474e4601df','wish-27','node-1','monday','cuda:0','{"torch": "2.13"}',-1,1795051475509,1795051478014,'lost',NULL,NULL,NULL);
INSERT INTO "attempts" VALUES(25,1,'0ff0c89bf076590a396db30ffccd54ee','wish-28','node-1','monday','cuda:0','{"torch": "2.13"}',0,1795051478026,NULL,NULL,NULL,NULL,NULL);
CREATE TABLE clock (
	id INTEGER NOT NULL, 
	offset_milliseconds BIGINT NOT NULL, 
	CONSTRAINT clock_pk PRIMARY KEY (id), 
	CONSTRAINT clock_single_row_check CHECK (id = 1)
);
INSERT INTO "clock" VALUES(1,0);
CREATE TABLE observations (
	study_id INTEGER NOT NULL, 
	seq INTEGER NOT NULL, 
	trial INTEGER NOT NULL, 
	attempt INTEGER NOT NULL, 
	outcome VARCHAR(20) NOT NULL, 
	loss FLOAT, 
	cause VARCHAR(30), 
	CONSTRAINT observations_pk PRIMARY KEY (study_id, seq), 
	CONSTRAINT observations_study_id_fk FOREIGN KEY(study_id) REFERENCES studies (id)
);
INSERT INTO "observations" VALUES(1,1,0,1,'succeeded',0.5,NULL);
INSERT INTO "observations" VALUES(1,2,1,1,'succeeded',0.6,NULL);
INSERT INTO "observations" VALUES(1,3,2,1,'succeeded',0.7,NULL);
INSERT INTO "observations" VALUES(1,4,3,1,'succeeded',0.8,NULL);
INSERT INTO "observations" VALUES(1,5,4,1,'succeeded',0.9,NULL);
INSERT INTO "observations" VALUES(1,6,5,1,'succeeded',1.0,NULL);
INSERT INTO "observations" VALUES(1,7,6,1,'diverged',NULL,NULL);
INSERT INTO "observations" VALUES(1,8,7,2,'failed',NULL,'out_of_memory');
INSERT INTO "observations" VALUES(1,9,8,1,'succeeded',0.9,NULL);
INSERT INTO "observations" VALUES(1,10,9,3,'succeeded',0.7,NULL);
INSERT INTO "observations" VALUES(2,1,0,1,'succeeded',0.5,NULL);
INSERT INTO "observations" VALUES(2,2,1,1,'succeeded',0.4,NULL);
INSERT INTO "observations" VALUES(3,1,0,1,'succeeded',0.1,NULL);
INSERT INTO "observations" VALUES(3,2,1,1,'succeeded',0.2,NULL);
INSERT INTO "observations" VALUES(3,3,2,1,'succeeded',0.3,NULL);
INSERT INTO "observations" VALUES(3,4,3,1,'succeeded',0.4,NULL);
INSERT INTO "observations" VALUES(4,1,0,1,'succeeded',0.5,NULL);
INSERT INTO "observations" VALUES(5,1,0,1,'succeeded',0.5,NULL);
INSERT INTO "observations" VALUES(5,2,1,1,'succeeded',0.4,NULL);
INSERT INTO "observations" VALUES(5,3,2,1,'succeeded',0.3,NULL);
INSERT INTO "observations" VALUES(6,1,0,1,'succeeded',0.5,NULL);
INSERT INTO "observations" VALUES(6,2,1,1,'succeeded',0.4,NULL);
INSERT INTO "observations" VALUES(6,3,2,1,'succeeded',0.3,NULL);
INSERT INTO "observations" VALUES(7,1,0,1,'failed',NULL,'attempts_used_up');
CREATE TABLE reports (
	trial_id INTEGER NOT NULL, 
	attempt INTEGER NOT NULL, 
	first_step BIGINT NOT NULL, 
	points JSON NOT NULL, 
	CONSTRAINT reports_pk PRIMARY KEY (trial_id, attempt, first_step), 
	CONSTRAINT reports_trial_id_fk FOREIGN KEY(trial_id) REFERENCES trials (id)
);
INSERT INTO "reports" VALUES(1,1,0,'[{"step": 0, "metrics": {"loss": 1.0}}, {"step": 1, "metrics": {"loss": 0.8}}]');
INSERT INTO "reports" VALUES(1,1,2,'[{"step": 2, "metrics": {"loss": 0.5}}]');
INSERT INTO "reports" VALUES(2,1,0,'[{"step": 0, "metrics": {"loss": 1.0}}, {"step": 1, "metrics": {"loss": 0.9}}]');
INSERT INTO "reports" VALUES(2,1,2,'[{"step": 2, "metrics": {"loss": 0.6}}]');
INSERT INTO "reports" VALUES(3,1,0,'[{"step": 0, "metrics": {"loss": 1.0}}, {"step": 1, "metrics": {"loss": 1.0}}]');
INSERT INTO "reports" VALUES(3,1,2,'[{"step": 2, "metrics": {"loss": 0.7}}]');
INSERT INTO "reports" VALUES(4,1,0,'[{"step": 0, "metrics": {"loss": 1.0}}, {"step": 1, "metrics": {"loss": 1.1}}]');
INSERT INTO "reports" VALUES(4,1,2,'[{"step": 2, "metrics": {"loss": 0.8}}]');
INSERT INTO "reports" VALUES(5,1,0,'[{"step": 0, "metrics": {"loss": 1.0}}, {"step": 1, "metrics": {"loss": 1.2000000000000002}}]');
INSERT INTO "reports" VALUES(5,1,2,'[{"step": 2, "metrics": {"loss": 0.9}}]');
INSERT INTO "reports" VALUES(6,1,0,'[{"step": 0, "metrics": {"loss": 1.0}}, {"step": 1, "metrics": {"loss": 1.3}}]');
INSERT INTO "reports" VALUES(6,1,2,'[{"step": 2, "metrics": {"loss": 1.0}}]');
INSERT INTO "reports" VALUES(25,1,0,'[{"step": 0, "metrics": {"loss": 0.9}}]');
CREATE TABLE studies (
	id INTEGER NOT NULL, 
	name VARCHAR(100) NOT NULL, 
	task VARCHAR(100) NOT NULL, 
	space JSON NOT NULL, 
	strategy VARCHAR(100) NOT NULL, 
	seed BIGINT NOT NULL, 
	max_trials INTEGER NOT NULL, 
	max_attempts INTEGER NOT NULL, 
	state VARCHAR(20) NOT NULL, 
	reason VARCHAR(30), 
	trials INTEGER NOT NULL, 
	observations INTEGER NOT NULL, 
	created_at BIGINT NOT NULL, strategy_settings JSON DEFAULT '{}' NOT NULL, 
	CONSTRAINT studies_pk PRIMARY KEY (id), 
	CONSTRAINT studies_name_unique UNIQUE (name)
);
INSERT INTO "studies" VALUES(1,'search','train','{"lr": {"type": "float", "low": 0.0001, "high": 1.0, "log": true}, "width": {"type": "int", "low": 8, "high": 64, "step": 8}, "rule": {"type": "categorical", "choices": ["sgd", "kfac"]}, "size": {"type": "ordinal", "choices": ["narrow", "middle", "wide"]}, "nesterov": {"type": "boolean", "when": {"rule": ["sgd"]}}}','biased_random',1,60,2,'active',NULL,11,10,1795051471968,'{"version": 1, "acceptance": {"name": "sharpening_rank", "trials": 10.0}, "neighbours": 1, "initial": 8, "explore": 0.02, "local": 0.8, "pending": "ignore"}');
INSERT INTO "studies" VALUES(2,'finished','train','{"x": {"type": "float", "low": 0.0, "high": 1.0}}','random',1,2,3,'completed','max_trials',2,2,1795051474898,'{"version": 1}');
INSERT INTO "studies" VALUES(3,'exhausted','train','{"a": {"type": "boolean"}, "b": {"type": "boolean"}}','grid',1,20,3,'active',NULL,4,4,1795051474930,'{"version": 1, "levels": 20, "order": "row_major"}');
INSERT INTO "studies" VALUES(4,'sobol','train','{"x": {"type": "float", "low": 0.0, "high": 1.0}}','quasi_random',1,20,3,'active',NULL,1,1,1795051474989,'{"version": 1}');
INSERT INTO "studies" VALUES(5,'thesis','train','{"x": {"type": "float", "low": 0.0, "high": 1.0}}','biased_random',1,20,3,'active',NULL,3,3,1795051475425,'{"version": 1, "acceptance": {"name": "linear"}, "neighbours": 1, "initial": 1, "explore": 0.0, "local": 0.0, "pending": "ignore"}');
INSERT INTO "studies" VALUES(6,'shuffled','train','{"x": {"type": "float", "low": 0.0, "high": 1.0}}','grid',1,20,3,'active',NULL,3,3,1795051475429,'{"version": 1, "levels": {"x": 4}, "order": "shuffled"}');
INSERT INTO "studies" VALUES(7,'hopeless','train','{"x": {"type": "float", "low": 0.0, "high": 1.0}}','biased_random',1,20,1,'active',NULL,1,1,1795051475501,'{"version": 1, "acceptance": {"name": "sharpening_rank", "trials": 10.0}, "neighbours": 1, "initial": 8, "explore": 0.02, "local": 0.8, "pending": "ignore"}');
CREATE TABLE trials (
	id INTEGER NOT NULL, 
	study_id INTEGER NOT NULL, 
	number INTEGER NOT NULL, 
	config JSON NOT NULL, 
	config_key VARCHAR(64) NOT NULL, 
	seed BIGINT NOT NULL, 
	reasons JSON NOT NULL, 
	state VARCHAR(20) NOT NULL, 
	cause VARCHAR(30), 
	loss FLOAT, 
	attempts INTEGER NOT NULL, 
	max_attempts INTEGER NOT NULL, 
	lease_id VARCHAR(64), 
	free_at BIGINT NOT NULL, 
	created_at BIGINT NOT NULL, 
	finished_at BIGINT, 
	CONSTRAINT trials_pk PRIMARY KEY (id), 
	CONSTRAINT trials_study_id_fk FOREIGN KEY(study_id) REFERENCES studies (id), 
	CONSTRAINT trials_study_id_number_unique UNIQUE (study_id, number), 
	CONSTRAINT trials_study_id_config_key_unique UNIQUE (study_id, config_key)
);
INSERT INTO "trials" VALUES(1,1,0,'{"lr": 0.17923228597, "width": 56, "rule": "kfac", "size": "middle"}','c1b283ab67820b5f031fd6f5550bb3e1206b318b3176d00e1d25e1852377a23f',5854950545185455,'{"strategy": "biased_random", "watermark": 0, "draw": "initial", "refused": 0, "last_refused": [], "forced": false, "nearest_trial": null, "nearest_is_pending": false, "distance": null, "estimate": null, "neighbourhood": 1, "acceptance": 1.0, "parent": null, "expected_share": null}','succeeded',NULL,0.5,1,2,'06234c0aa7113124874e13f9feec01f0',1795051473055,1795051472019,1795051472065);
INSERT INTO "trials" VALUES(2,1,1,'{"lr": 0.000199804195986, "width": 64, "rule": "kfac", "size": "wide"}','6008cd6f3a445e7f5004f1c3f2d9ddf22ae81aed4ed5d3ad0c3da8fb6704c2b8',7554410117382319,'{"strategy": "biased_random", "watermark": 1, "draw": "initial", "refused": 0, "last_refused": [], "forced": false, "nearest_trial": null, "nearest_is_pending": false, "distance": null, "estimate": null, "neighbourhood": 1, "acceptance": 1.0, "parent": null, "expected_share": null}','succeeded',NULL,0.6,1,2,'0dc001cddd20a71337c239df57cbc1ca',1795051473099,1795051472079,1795051472105);
INSERT INTO "trials" VALUES(3,1,2,'{"lr": 0.015514661951, "width": 56, "rule": "sgd", "size": "wide", "nesterov": true}','30b9e8e40ebf03907735220ed9c3df929163ec0fa9c7d9e0fc2ff9cb988d3eb3',3632089929981814,'{"strategy": "biased_random", "watermark": 2, "draw": "initial", "refused": 0, "last_refused": [], "forced": false, "nearest_trial": null, "nearest_is_pending": false, "distance": null, "estimate": null, "neighbourhood": 1, "acceptance": 1.0, "parent": null, "expected_share": null}','succeeded',NULL,0.7,1,2,'5cff3a3d9ec183b9ccf8d4af41d23c7b',1795051473135,1795051472117,1795051472144);
INSERT INTO "trials" VALUES(4,1,3,'{"lr": 0.0912820515555, "width": 56, "rule": "kfac", "size": "narrow"}','8fa547930f0bc018d37a0ca33334177d20d5409e3fff101402eefbaaed33412e',4712910346481374,'{"strategy": "biased_random", "watermark": 3, "draw": "initial", "refused": 0, "last_refused": [], "forced": false, "nearest_trial": null, "nearest_is_pending": false, "distance": null, "estimate": null, "neighbourhood": 1, "acceptance": 1.0, "parent": null, "expected_share": null}','succeeded',NULL,0.8,1,2,'966da2b6ae8f37ea592fde5d6d4435c8',1795051473179,1795051472159,1795051472188);
INSERT INTO "trials" VALUES(5,1,4,'{"lr": 0.63789561431, "width": 32, "rule": "sgd", "size": "wide", "nesterov": true}','efd682e0df03c489f5dfffddc3f2044ca5c3fed6a997d60fd78d53f43c9e84b0',2574326112439867,'{"strategy": "biased_random", "watermark": 4, "draw": "initial", "refused": 0, "last_refused": [], "forced": false, "nearest_trial": null, "nearest_is_pending": false, "distance": null, "estimate": null, "neighbourhood": 1, "acceptance": 1.0, "parent": null, "expected_share": null}','succeeded',NULL,0.9,1,2,'c99aa5060b0124ed8f8405c0886d0138',1795051473219,1795051472199,1795051472228);
INSERT INTO "trials" VALUES(6,1,5,'{"lr": 0.0742578024471, "width": 32, "rule": "kfac", "size": "wide"}','10a6fcf285aa80e4646a66a7b1b20d1c83c3262f844912de9c989a8e04b98438',3603335978758971,'{"strategy": "biased_random", "watermark": 5, "draw": "initial", "refused": 0, "last_refused": [], "forced": false, "nearest_trial": null, "nearest_is_pending": false, "distance": null, "estimate": null, "neighbourhood": 1, "acceptance": 1.0, "parent": null, "expected_share": null}','succeeded',NULL,1.0,1,2,'a770992c19b99db691eb913d9d4b9eb7',1795051473259,1795051472241,1795051472268);
INSERT INTO "trials" VALUES(7,1,6,'{"lr": 0.00844920240805, "width": 8, "rule": "kfac", "size": "narrow"}','b94ad881ce948c4871e36a4b34b4d1867844186eddbe33a3b2299e941f3c4f47',3454990870116558,'{"strategy": "biased_random", "watermark": 6, "draw": "initial", "refused": 0, "last_refused": [], "forced": false, "nearest_trial": null, "nearest_is_pending": false, "distance": null, "estimate": null, "neighbourhood": 1, "acceptance": 1.0, "parent": null, "expected_share": null}','diverged',NULL,NULL,1,2,'f271d22f37826e56b487b81e7f70c8a5',1795051473283,1795051472282,1795051472291);
INSERT INTO "trials" VALUES(8,1,7,'{"lr": 0.338740653486, "width": 24, "rule": "kfac", "size": "narrow"}','5bb9a0e154db15fd6a90bd6e3402db3d4ce4abcc636619cee060df169d1a11d5',2159311904508941,'{"strategy": "biased_random", "watermark": 7, "draw": "initial", "refused": 0, "last_refused": [], "forced": false, "nearest_trial": null, "nearest_is_pending": false, "distance": null, "estimate": null, "neighbourhood": 1, "acceptance": 1.0, "parent": null, "expected_share": null}','failed','out_of_memory',NULL,2,2,'64c06ffab78fb7e3282b5ea9c602921b',1795051473317,1795051472305,1795051472322);
INSERT INTO "trials" VALUES(9,1,8,'{"lr": 0.000771714895962, "width": 56, "rule": "kfac", "size": "wide"}','6d4641afedb1b71f2ec721bc004db6a1c39a6e136b298b98c2144f23bc8bb8ea',2968957234454642,'{"strategy": "biased_random", "watermark": 8, "draw": "uniform", "refused": 0, "last_refused": [], "forced": false, "nearest_trial": 1, "nearest_is_pending": false, "distance": 0.19274263883931103, "estimate": 0.6, "neighbourhood": 1, "acceptance": 0.7403017894104497, "parent": null, "expected_share": null}','succeeded',NULL,0.9,1,2,'23064a0cabc23af01a0bdcfe0940f1bf',1795051473336,1795051472335,1795051472345);
INSERT INTO "trials" VALUES(10,1,9,'{"lr": 0.000666400528616, "width": 40, "rule": "sgd", "size": "wide", "nesterov": false}','9beba99e69df74b3c8e025ffe6288946f46571f40e0a78f701c1f266f8c25f82',6506242002484145,'{"strategy": "biased_random", "watermark": 9, "draw": "uniform", "refused": 0, "last_refused": [], "forced": false, "nearest_trial": 2, "nearest_is_pending": false, "distance": 1.085953155500766, "estimate": 0.7, "neighbourhood": 1, "acceptance": 0.5547185761843235, "parent": null, "expected_share": null}','succeeded',NULL,0.7,3,3,'704a6fa1b8195faec059e42a9d20665c',1795051475885,1795051472356,1795051474894);
INSERT INTO "trials" VALUES(11,2,0,'{"x": 0.813354060979}','69924794c4ff764b71e49b59be3879fc0d97dc2efd8d87b7ccb805ed14fe85a7',5854950545185455,'{"strategy": "random", "watermark": 0, "draw": "uniform", "refused": 0, "last_refused": [], "forced": false, "nearest_trial": null, "nearest_is_pending": false, "distance": null, "estimate": null, "neighbourhood": 1, "acceptance": 1.0, "parent": null, "expected_share": null}','succeeded',NULL,0.5,1,3,'13b641a41fdb780a4c44e28f202eaa7a',1795051475907,1795051474906,1795051474913);
INSERT INTO "trials" VALUES(12,2,1,'{"x": 0.0751511510959}','ba4c71058e02141e93b19efa62c82428e536130cd05d2f9a589edd56231f660f',7554410117382319,'{"strategy": "random", "watermark": 1, "draw": "uniform", "refused": 0, "last_refused": [], "forced": false, "nearest_trial": null, "nearest_is_pending": false, "distance": null, "estimate": null, "neighbourhood": 1, "acceptance": 1.0, "parent": null, "expected_share": null}','succeeded',NULL,0.4,1,3,'7d60db0800bc58969d2aea3ad9d99989',1795051475921,1795051474920,1795051474926);
INSERT INTO "trials" VALUES(13,3,0,'{"a": false, "b": false}','10eb12861546e953ae8fdadc2b6558461b5af6d790929d081c21743622e4d86b',5854950545185455,'{"strategy": "grid", "watermark": 0, "draw": "grid", "refused": 0, "last_refused": [], "forced": false, "nearest_trial": null, "nearest_is_pending": false, "distance": null, "estimate": null, "neighbourhood": 1, "acceptance": 1.0, "parent": null, "expected_share": null}','succeeded',NULL,0.1,1,3,'bf1a4d785c06b21f241d96043a9168af',1795051475938,1795051474937,1795051474944);
INSERT INTO "trials" VALUES(14,3,1,'{"a": false, "b": true}','fa59f59e6d51fd60bca1fdde5b90378aac933deaba6ca6a1211cecc86cebc166',7554410117382319,'{"strategy": "grid", "watermark": 1, "draw": "grid", "refused": 0, "last_refused": [], "forced": false, "nearest_trial": null, "nearest_is_pending": false, "distance": null, "estimate": null, "neighbourhood": 1, "acceptance": 1.0, "parent": null, "expected_share": null}','succeeded',NULL,0.2,1,3,'3eacec13aa41362bea1b738206f4d87d',1795051475952,1795051474951,1795051474958);
INSERT INTO "trials" VALUES(15,3,2,'{"a": true, "b": false}','cf5ce5d22cc0da3c5aa620a9652583597ad367d1e69a668b4ddceecaf010d5a8',3632089929981814,'{"strategy": "grid", "watermark": 2, "draw": "grid", "refused": 0, "last_refused": [], "forced": false, "nearest_trial": null, "nearest_is_pending": false, "distance": null, "estimate": null, "neighbourhood": 1, "acceptance": 1.0, "parent": null, "expected_share": null}','succeeded',NULL,0.3,1,3,'38b861bcedc6834cea08edfb21b7601d',1795051475966,1795051474965,1795051474971);
INSERT INTO "trials" VALUES(16,3,3,'{"a": true, "b": true}','4947bff777a27a43600a4dfdcafa492208495c601a59f8cc3728ce700119fc9b',4712910346481374,'{"strategy": "grid", "watermark": 3, "draw": "grid", "refused": 0, "last_refused": [], "forced": false, "nearest_trial": null, "nearest_is_pending": false, "distance": null, "estimate": null, "neighbourhood": 1, "acceptance": 1.0, "parent": null, "expected_share": null}','succeeded',NULL,0.4,1,3,'4c594fb365f2e2deda5f40df220df41d',1795051475980,1795051474979,1795051474985);
INSERT INTO "trials" VALUES(17,4,0,'{"x": 0.32489336154}','e75ca5716a6f3d99cb494caea8a06090c2bbfbdaf45178ea91fe460659f17d95',5854950545185455,'{"strategy": "quasi_random", "watermark": 0, "draw": "quasi_random", "refused": 0, "last_refused": [], "forced": false, "nearest_trial": null, "nearest_is_pending": false, "distance": null, "estimate": null, "neighbourhood": 1, "acceptance": 1.0, "parent": null, "expected_share": null}','succeeded',NULL,0.5,1,3,'7536cff96775178228b14a3e9f075250',1795051476416,1795051475414,1795051475422);
INSERT INTO "trials" VALUES(18,5,0,'{"x": 0.813354060979}','69924794c4ff764b71e49b59be3879fc0d97dc2efd8d87b7ccb805ed14fe85a7',5854950545185455,'{"strategy": "biased_random", "watermark": 0, "draw": "initial", "refused": 0, "last_refused": [], "forced": false, "nearest_trial": null, "nearest_is_pending": false, "distance": null, "estimate": null, "neighbourhood": 1, "acceptance": 1.0, "parent": null, "expected_share": null}','succeeded',NULL,0.5,1,3,'87766a41d7607f1168d64a06d76f4204',1795051476436,1795051475436,1795051475441);
INSERT INTO "trials" VALUES(19,5,1,'{"x": 0.0751511510959}','ba4c71058e02141e93b19efa62c82428e536130cd05d2f9a589edd56231f660f',7554410117382319,'{"strategy": "biased_random", "watermark": 1, "draw": "uniform", "refused": 0, "last_refused": [], "forced": false, "nearest_trial": 0, "nearest_is_pending": false, "distance": 0.7382029098831, "estimate": 0.5, "neighbourhood": 1, "acceptance": 1.0, "parent": null, "expected_share": null}','succeeded',NULL,0.4,1,3,'84a7b89b4d46fbc59e73dfd330a2c0af',1795051476448,1795051475447,1795051475453);
INSERT INTO "trials" VALUES(20,5,2,'{"x": 0.0812979396687}','cc10abb546d3ae1d0991691a34b0236ee2f35c12971aec47a74602dc035c5769',3632089929981814,'{"strategy": "biased_random", "watermark": 2, "draw": "uniform", "refused": 1, "last_refused": [{"config": {"x": 0.547685579295}, "nearest_trial": 0, "estimate": 0.5, "acceptance": 0.0}], "forced": false, "nearest_trial": 1, "nearest_is_pending": false, "distance": 0.006146788572800002, "estimate": 0.4, "neighbourhood": 1, "acceptance": 1.0, "parent": null, "expected_share": null}','succeeded',NULL,0.3,1,3,'264255eceb0359c1e200c133a97c9fac',1795051476460,1795051475459,1795051475464);
INSERT INTO "trials" VALUES(21,6,0,'{"x": 0.0}','306e4750ee8b575278c968fd63668192aeba456e5e47da97ed835e2d498ef9cf',5854950545185455,'{"strategy": "grid", "watermark": 0, "draw": "grid", "refused": 0, "last_refused": [], "forced": false, "nearest_trial": null, "nearest_is_pending": false, "distance": null, "estimate": null, "neighbourhood": 1, "acceptance": 1.0, "parent": null, "expected_share": null}','succeeded',NULL,0.5,1,3,'782fde8de49e2c8ad6a062350cf0b232',1795051476471,1795051475470,1795051475476);
INSERT INTO "trials" VALUES(22,6,1,'{"x": 1.0}','bf32f56236899e13ef54db875d136c6cbcc65244464829c54911aa9069b0ae25',7554410117382319,'{"strategy": "grid", "watermark": 1, "draw": "grid", "refused": 0, "last_refused": [], "forced": false, "nearest_trial": null, "nearest_is_pending": false, "distance": null, "estimate": null, "neighbourhood": 1, "acceptance": 1.0, "parent": null, "expected_share": null}','succeeded',NULL,0.4,1,3,'661663cd9918881a69a6af684b84e829',1795051476483,1795051475482,1795051475487);
INSERT INTO "trials" VALUES(23,6,2,'{"x": 0.666666666667}','af6ac5db060a5f048eb29b8fb9e6245bba4cde3d354852f82a862c46c3ab5788',3632089929981814,'{"strategy": "grid", "watermark": 2, "draw": "grid", "refused": 0, "last_refused": [], "forced": false, "nearest_trial": null, "nearest_is_pending": false, "distance": null, "estimate": null, "neighbourhood": 1, "acceptance": 1.0, "parent": null, "expected_share": null}','succeeded',NULL,0.3,1,3,'b455180bf9100d8863145f619a349078',1795051476494,1795051475493,1795051475498);
INSERT INTO "trials" VALUES(24,7,0,'{"x": 0.813354060979}','69924794c4ff764b71e49b59be3879fc0d97dc2efd8d87b7ccb805ed14fe85a7',5854950545185455,'{"strategy": "biased_random", "watermark": 0, "draw": "initial", "refused": 0, "last_refused": [], "forced": false, "nearest_trial": null, "nearest_is_pending": false, "distance": null, "estimate": null, "neighbourhood": 1, "acceptance": 1.0, "parent": null, "expected_share": null}','failed','attempts_used_up',NULL,1,1,'5ea8ed2ee239b4daf0fa9e474e4601df',1795051476508,1795051475507,1795051478013);
INSERT INTO "trials" VALUES(25,1,10,'{"lr": 0.013617396429, "width": 56, "rule": "kfac", "size": "wide"}','3bd151e840b81574ef6eb7ded882dd655b4d9ebd431b9e1b3d38a64ee6786ff7',6314891083002266,'{"strategy": "biased_random", "watermark": 10, "draw": "uniform", "refused": 1, "last_refused": [{"config": {"lr": 0.014320276897, "width": 8, "rule": "kfac", "size": "wide"}, "nearest_trial": 5, "estimate": 1.0, "acceptance": 0.03114186851211071}], "forced": false, "nearest_trial": 8, "nearest_is_pending": false, "distance": 0.3116592993858247, "estimate": 0.9, "neighbourhood": 1, "acceptance": 0.12456747404844284, "parent": null, "expected_share": null}','running',NULL,NULL,1,2,'0ff0c89bf076590a396db30ffccd54ee',1795051479030,1795051478024,NULL);
CREATE INDEX trials_by_loss ON trials (study_id, loss, number) WHERE state = 'succeeded';
CREATE INDEX trials_to_lease ON trials (free_at, id) WHERE state IN ('queued', 'running');
COMMIT;
