BEGIN TRANSACTION;
CREATE TABLE alembic_version (
	version_num VARCHAR(32) NOT NULL, 
	CONSTRAINT alembic_version_pkc PRIMARY KEY (version_num)
);
INSERT INTO "alembic_version" VALUES('0001');
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
INSERT INTO "attempts" VALUES(1,1,'4cdcac4e654533cf119be3bd4f0679c6','wish-1','node-1','monday','cuda:0','{"torch": "2.13"}',2,1795051454286,1795051454329,'succeeded',0.5,NULL,NULL);
INSERT INTO "attempts" VALUES(2,1,'b2d4d7e58941b5e00e61888b8a76975a','wish-2','node-1','monday','cuda:0','{"torch": "2.13"}',2,1795051454350,1795051454392,'succeeded',0.6,NULL,NULL);
INSERT INTO "attempts" VALUES(3,1,'128e0e3c3e4479683c63d2434a516f3b','wish-3','node-1','monday','cuda:0','{"torch": "2.13"}',2,1795051454410,1795051454423,'succeeded',0.7,NULL,NULL);
INSERT INTO "attempts" VALUES(4,1,'0f94fbd92bbaf6af3998efc5b6e3b18a','wish-4','node-1','monday','cuda:0','{"torch": "2.13"}',2,1795051454433,1795051454470,'succeeded',0.8,NULL,NULL);
INSERT INTO "attempts" VALUES(5,1,'199e648474f812a1a7350bddcaa03217','wish-5','node-1','monday','cuda:0','{"torch": "2.13"}',2,1795051454478,1795051454516,'succeeded',0.9,NULL,NULL);
INSERT INTO "attempts" VALUES(6,1,'6b6f6a14f0dee127a8ae6857a63bac80','wish-6','node-1','monday','cuda:0','{"torch": "2.13"}',2,1795051454529,1795051454549,'succeeded',1.0,NULL,NULL);
INSERT INTO "attempts" VALUES(7,1,'943e22b7678dae222e636e829830364f','wish-7','node-1','monday','cuda:0','{"torch": "2.13"}',-1,1795051454557,1795051454564,'diverged',NULL,'nan',NULL);
INSERT INTO "attempts" VALUES(8,1,'f8d5905d1bbe48a1e41646a4546ce08c','wish-8','node-1','monday','cuda:0','{"torch": "2.13"}',-1,1795051454572,1795051454576,'error',NULL,'boom','Traceback: boom');
INSERT INTO "attempts" VALUES(8,2,'8b2a287ed9fc7c6596d219be76c013b2','wish-9','node-1','monday','cuda:0','{"torch": "2.13"}',-1,1795051454586,1795051454593,'out_of_memory',NULL,'boom','Traceback: boom');
INSERT INTO "attempts" VALUES(9,1,'1492020664315aecb03c60dd85bdd3ef','wish-10','node-1','monday','cuda:0','{"torch": "2.13"}',-1,1795051454605,1795051454612,'succeeded',0.9,NULL,NULL);
INSERT INTO "attempts" VALUES(10,1,'3878733b385193fddee06a268f60dfb8','wish-11','node-1','monday','cuda:0','{"torch": "2.13"}',-1,1795051454622,1795051454626,'released',NULL,NULL,NULL);
INSERT INTO "attempts" VALUES(10,2,'4cab0d40e7240341ac6fdc5c8132b984','wish-12','node-1','monday','cuda:0','{"torch": "2.13"}',-1,1795051454634,1795051457145,'lost',NULL,NULL,NULL);
INSERT INTO "attempts" VALUES(10,3,'69ef06a5097f8ba64e1dbd412fbdf3dd','wish-13','node-2','monday','cuda:0','{"torch": "2.13"}',-1,1795051457146,1795051457156,'succeeded',0.7,NULL,NULL);
INSERT INTO "attempts" VALUES(11,1,'99c09811216a9ddc7dc2595c5cf26d8f','wish-14','node-1','monday','cuda:0','{"torch": "2.13"}',-1,1795051457169,1795051457181,'succeeded',0.5,NULL,NULL);
INSERT INTO "attempts" VALUES(12,1,'4039ff5bc8506776502579c21fe371f2','wish-15','node-1','monday','cuda:0','{"torch": "2.13"}',-1,1795051457190,1795051457200,'succeeded',0.4,NULL,NULL);
INSERT INTO "attempts" VALUES(13,1,'1be481abf96eb4f960cb8a5c4678f507','wish-16','node-1','monday','cuda:0','{"torch": "2.13"}',-1,1795051457223,1795051457236,'succeeded',0.1,NULL,NULL);
INSERT INTO "attempts" VALUES(14,1,'d99fe3b3714ebff6cf582fc37afbbfc4','wish-17','node-1','monday','cuda:0','{"torch": "2.13"}',-1,1795051457248,1795051457267,'succeeded',0.2,NULL,NULL);
INSERT INTO "attempts" VALUES(15,1,'1d4fa65eeb514a27c94dab0f23bc527b','wish-18','node-1','monday','cuda:0','{"torch": "2.13"}',-1,1795051457297,1795051457319,'succeeded',0.3,NULL,NULL);
INSERT INTO "attempts" VALUES(16,1,'3a0e91163ef67c01ec0c507a57b8777b','wish-19','node-1','monday','cuda:0','{"torch": "2.13"}',-1,1795051457336,1795051457352,'succeeded',0.4,NULL,NULL);
INSERT INTO "attempts" VALUES(17,1,'0258cc12df4d18ade9deee3ee1f727c5','wish-20','node-1','monday','cuda:0','{"torch": "2.13"}',-1,1795051458153,1795051458172,'succeeded',0.5,NULL,NULL);
INSERT INTO "attempts" VALUES(18,1,'8f2bf5015579cbba5dd48cd5bf8df4ad','wish-21','node-1','monday','cuda:0','{"torch": "2.13"}',-1,1795051458200,1795051460705,'lost',NULL,NULL,NULL);
INSERT INTO "attempts" VALUES(19,1,'d0e4839c9b54e194ed3fd8b011eb83a1','wish-22','node-1','monday','cuda:0','{"torch": "2.13"}',0,1795051460721,NULL,NULL,NULL,NULL,NULL);
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
INSERT INTO "observations" VALUES(5,1,0,1,'failed',NULL,'attempts_used_up');
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
INSERT INTO "reports" VALUES(19,1,0,'[{"step": 0, "metrics": {"loss": 0.9}}]');
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
	created_at BIGINT NOT NULL, 
	CONSTRAINT studies_pk PRIMARY KEY (id), 
	CONSTRAINT studies_name_unique UNIQUE (name)
);
INSERT INTO "studies" VALUES(1,'search','train','{"lr": {"type": "float", "low": 0.0001, "high": 1.0, "log": true}, "width": {"type": "int", "low": 8, "high": 64, "step": 8}, "rule": {"type": "categorical", "choices": ["sgd", "kfac"]}, "size": {"type": "ordinal", "choices": ["narrow", "middle", "wide"]}, "nesterov": {"type": "boolean", "when": {"rule": ["sgd"]}}}','biased_random',1,60,2,'active',NULL,11,10,1795051454252);
INSERT INTO "studies" VALUES(2,'finished','train','{"x": {"type": "float", "low": 0.0, "high": 1.0}}','random',1,2,3,'completed','max_trials',2,2,1795051457161);
INSERT INTO "studies" VALUES(3,'exhausted','train','{"a": {"type": "boolean"}, "b": {"type": "boolean"}}','grid',1,20,3,'active',NULL,4,4,1795051457210);
INSERT INTO "studies" VALUES(4,'sobol','train','{"x": {"type": "float", "low": 0.0, "high": 1.0}}','quasi_random',1,20,3,'active',NULL,1,1,1795051457357);
INSERT INTO "studies" VALUES(5,'hopeless','train','{"x": {"type": "float", "low": 0.0, "high": 1.0}}','biased_random',1,20,1,'active',NULL,1,1,1795051458187);
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
INSERT INTO "trials" VALUES(1,1,0,'{"lr": 0.17923228597, "width": 56, "rule": "kfac", "size": "middle"}','c1b283ab67820b5f031fd6f5550bb3e1206b318b3176d00e1d25e1852377a23f',5854950545185455,'{"strategy": "biased_random", "watermark": 0, "refused": 0, "nearest_trial": null, "distance": null, "estimate": null, "acceptance": 1.0}','succeeded',NULL,0.5,1,2,'4cdcac4e654533cf119be3bd4f0679c6',1795051455308,1795051454284,1795051454329);
INSERT INTO "trials" VALUES(2,1,1,'{"lr": 0.000199804195986, "width": 64, "rule": "kfac", "size": "wide"}','6008cd6f3a445e7f5004f1c3f2d9ddf22ae81aed4ed5d3ad0c3da8fb6704c2b8',7554410117382319,'{"strategy": "biased_random", "watermark": 1, "refused": 0, "nearest_trial": 0, "distance": 0.8195606428276367, "estimate": 0.5, "acceptance": 1.0}','succeeded',NULL,0.6,1,2,'b2d4d7e58941b5e00e61888b8a76975a',1795051455373,1795051454348,1795051454392);
INSERT INTO "trials" VALUES(3,1,2,'{"lr": 0.015514661951, "width": 56, "rule": "sgd", "size": "wide", "nesterov": true}','30b9e8e40ebf03907735220ed9c3df929163ec0fa9c7d9e0fc2ff9cb988d3eb3',3632089929981814,'{"strategy": "biased_random", "watermark": 2, "refused": 0, "nearest_trial": 0, "distance": 1.4770547902063926, "estimate": 0.5, "acceptance": 1.0}','succeeded',NULL,0.7,1,2,'128e0e3c3e4479683c63d2434a516f3b',1795051455419,1795051454408,1795051454423);
INSERT INTO "trials" VALUES(4,1,3,'{"lr": 0.0912820515555, "width": 56, "rule": "kfac", "size": "narrow"}','8fa547930f0bc018d37a0ca33334177d20d5409e3fff101402eefbaaed33412e',4712910346481374,'{"strategy": "biased_random", "watermark": 3, "refused": 0, "nearest_trial": 0, "distance": 0.34128844635151806, "estimate": 0.5, "acceptance": 1.0}','succeeded',NULL,0.8,1,2,'0f94fbd92bbaf6af3998efc5b6e3b18a',1795051455462,1795051454431,1795051454469);
INSERT INTO "trials" VALUES(5,1,4,'{"lr": 0.0184039166447, "width": 64, "rule": "sgd", "size": "wide", "nesterov": false}','846232bad99625dad04a15f436761ae825876b9baf5e25fbadd719796d89b6d0',2574326112439867,'{"strategy": "biased_random", "watermark": 4, "refused": 1, "nearest_trial": 2, "distance": 1.0079527792567895, "estimate": 0.7, "acceptance": 0.3333333333333336}','succeeded',NULL,0.9,1,2,'199e648474f812a1a7350bddcaa03217',1795051455503,1795051454476,1795051454516);
INSERT INTO "trials" VALUES(6,1,5,'{"lr": 0.0742578024471, "width": 32, "rule": "kfac", "size": "wide"}','10a6fcf285aa80e4646a66a7b1b20d1c83c3262f844912de9c989a8e04b98438',3603335978758971,'{"strategy": "biased_random", "watermark": 5, "refused": 0, "nearest_trial": 0, "distance": 0.5107725327715947, "estimate": 0.5, "acceptance": 1.0}','succeeded',NULL,1.0,1,2,'6b6f6a14f0dee127a8ae6857a63bac80',1795051455543,1795051454527,1795051454549);
INSERT INTO "trials" VALUES(7,1,6,'{"lr": 0.00844920240805, "width": 8, "rule": "kfac", "size": "narrow"}','b94ad881ce948c4871e36a4b34b4d1867844186eddbe33a3b2299e941f3c4f47',3454990870116558,'{"strategy": "biased_random", "watermark": 6, "refused": 0, "nearest_trial": 3, "distance": 0.7932632869790313, "estimate": 0.8, "acceptance": 0.3999999999999999}','diverged',NULL,NULL,1,2,'943e22b7678dae222e636e829830364f',1795051455556,1795051454555,1795051454563);
INSERT INTO "trials" VALUES(8,1,7,'{"lr": 0.00339403536302, "width": 64, "rule": "kfac", "size": "middle"}','80de2d927b717a4ea3ecadd0a4bbe1b0ea5f113cd5262cde59c1f0be2a3c75b7',2159311904508941,'{"strategy": "biased_random", "watermark": 7, "refused": 1, "nearest_trial": 0, "distance": 0.4484483582129849, "estimate": 0.5, "acceptance": 1.0}','failed','out_of_memory',NULL,2,2,'8b2a287ed9fc7c6596d219be76c013b2',1795051455585,1795051454570,1795051454592);
INSERT INTO "trials" VALUES(9,1,8,'{"lr": 0.00532469439036, "width": 48, "rule": "sgd", "size": "narrow", "nesterov": true}','ffddfd1f946f8eb718f3abf4340275e6f83de9dba2bd4ad449e05a284ee54b49',2968957234454642,'{"strategy": "biased_random", "watermark": 8, "refused": 4, "nearest_trial": 2, "distance": 0.6881507244360672, "estimate": 0.7, "acceptance": 0.6000000000000001}','succeeded',NULL,0.9,1,2,'1492020664315aecb03c60dd85bdd3ef',1795051455604,1795051454603,1795051454611);
INSERT INTO "trials" VALUES(10,1,9,'{"lr": 0.000135383064935, "width": 24, "rule": "kfac", "size": "wide"}','588691e81dad995ae5d08af9413dbe8f633014744721a5fc638f1f1146f384a7',6506242002484145,'{"strategy": "biased_random", "watermark": 9, "refused": 1, "nearest_trial": 1, "distance": 0.6264271012233942, "estimate": 0.6, "acceptance": 0.8}','succeeded',NULL,0.7,3,3,'69ef06a5097f8ba64e1dbd412fbdf3dd',1795051458145,1795051454621,1795051457156);
INSERT INTO "trials" VALUES(11,2,0,'{"x": 0.813354060979}','69924794c4ff764b71e49b59be3879fc0d97dc2efd8d87b7ccb805ed14fe85a7',5854950545185455,'{"strategy": "random", "watermark": 0, "refused": 0, "nearest_trial": null, "distance": null, "estimate": null, "acceptance": 1.0}','succeeded',NULL,0.5,1,3,'99c09811216a9ddc7dc2595c5cf26d8f',1795051458168,1795051457167,1795051457180);
INSERT INTO "trials" VALUES(12,2,1,'{"x": 0.0751511510959}','ba4c71058e02141e93b19efa62c82428e536130cd05d2f9a589edd56231f660f',7554410117382319,'{"strategy": "random", "watermark": 1, "refused": 0, "nearest_trial": null, "distance": null, "estimate": null, "acceptance": 1.0}','succeeded',NULL,0.4,1,3,'4039ff5bc8506776502579c21fe371f2',1795051458190,1795051457189,1795051457200);
INSERT INTO "trials" VALUES(13,3,0,'{"a": false, "b": false}','10eb12861546e953ae8fdadc2b6558461b5af6d790929d081c21743622e4d86b',5854950545185455,'{"strategy": "grid", "watermark": 0, "refused": 0, "nearest_trial": null, "distance": null, "estimate": null, "acceptance": 1.0}','succeeded',NULL,0.1,1,3,'1be481abf96eb4f960cb8a5c4678f507',1795051458222,1795051457221,1795051457235);
INSERT INTO "trials" VALUES(14,3,1,'{"a": false, "b": true}','fa59f59e6d51fd60bca1fdde5b90378aac933deaba6ca6a1211cecc86cebc166',7554410117382319,'{"strategy": "grid", "watermark": 1, "refused": 0, "nearest_trial": null, "distance": null, "estimate": null, "acceptance": 1.0}','succeeded',NULL,0.2,1,3,'d99fe3b3714ebff6cf582fc37afbbfc4',1795051458247,1795051457246,1795051457266);
INSERT INTO "trials" VALUES(15,3,2,'{"a": true, "b": false}','cf5ce5d22cc0da3c5aa620a9652583597ad367d1e69a668b4ddceecaf010d5a8',3632089929981814,'{"strategy": "grid", "watermark": 2, "refused": 0, "nearest_trial": null, "distance": null, "estimate": null, "acceptance": 1.0}','succeeded',NULL,0.3,1,3,'1d4fa65eeb514a27c94dab0f23bc527b',1795051458296,1795051457295,1795051457319);
INSERT INTO "trials" VALUES(16,3,3,'{"a": true, "b": true}','4947bff777a27a43600a4dfdcafa492208495c601a59f8cc3728ce700119fc9b',4712910346481374,'{"strategy": "grid", "watermark": 3, "refused": 0, "nearest_trial": null, "distance": null, "estimate": null, "acceptance": 1.0}','succeeded',NULL,0.4,1,3,'3a0e91163ef67c01ec0c507a57b8777b',1795051458335,1795051457334,1795051457351);
INSERT INTO "trials" VALUES(17,4,0,'{"x": 0.32489336154}','e75ca5716a6f3d99cb494caea8a06090c2bbfbdaf45178ea91fe460659f17d95',5854950545185455,'{"strategy": "quasi_random", "watermark": 0, "refused": 0, "nearest_trial": null, "distance": null, "estimate": null, "acceptance": 1.0}','succeeded',NULL,0.5,1,3,'0258cc12df4d18ade9deee3ee1f727c5',1795051459152,1795051458151,1795051458172);
INSERT INTO "trials" VALUES(18,5,0,'{"x": 0.813354060979}','69924794c4ff764b71e49b59be3879fc0d97dc2efd8d87b7ccb805ed14fe85a7',5854950545185455,'{"strategy": "biased_random", "watermark": 0, "refused": 0, "nearest_trial": null, "distance": null, "estimate": null, "acceptance": 1.0}','failed','attempts_used_up',NULL,1,1,'8f2bf5015579cbba5dd48cd5bf8df4ad',1795051459199,1795051458198,1795051460705);
INSERT INTO "trials" VALUES(19,1,10,'{"lr": 0.890879778312, "width": 56, "rule": "kfac", "size": "wide"}','efa3a14fc460e31e7188e40db194ddc02120055ad7aab463b7d307591e5ba6f1',6314891083002266,'{"strategy": "biased_random", "watermark": 10, "refused": 1, "nearest_trial": 0, "distance": 0.37606139104802366, "estimate": 0.5, "acceptance": 1.0}','running',NULL,NULL,1,2,'d0e4839c9b54e194ed3fd8b011eb83a1',1795051461731,1795051460719,NULL);
CREATE INDEX trials_by_loss ON trials (study_id, loss, number) WHERE state = 'succeeded';
CREATE INDEX trials_to_lease ON trials (free_at, id) WHERE state IN ('queued', 'running');
COMMIT;
